import { StepFields } from '../fields.ts';
import type { VirtualUser } from '../virtual-user.ts';
import type { StepMaker } from './step.ts';

/** `disconnect: {}` sends DISCONNECT; `disconnect: { abruptly: true }` cuts the connection. */
export const disconnect: StepMaker = (value) => {
  const fields = new StepFields('disconnect', value === true ? {} : value);
  const abruptly = fields.flag('abruptly') ?? false;
  fields.nothingElse();
  return (user) => leave(user, abruptly);
};

/** Every virtual user leaves in the end, whatever its flow says. */
export async function leave(user: VirtualUser, abruptly = false): Promise<void> {
  const { client } = user;
  user.isLeaving = true;
  if (client === undefined) return;
  user.client = undefined;
  await client.endAsync(abruptly);
  // What is sent to it from here on is nobody's.
  client.removeAllListeners('message');
  client.on('error', () => {});
}
