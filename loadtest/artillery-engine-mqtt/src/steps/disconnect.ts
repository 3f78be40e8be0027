import type { MqttClient } from 'mqtt';
import { StepFields } from '../fields.ts';
import type { VirtualUser } from '../virtual-user.ts';
import type { StepMaker } from './step.ts';

/** mqtt.js waits for acknowledgements before it sends DISCONNECT; a broker that is gone never answers. */
const END_MS_MAX = 5_000;

/** `disconnect: {}` sends DISCONNECT; `disconnect: { abruptly: true }` cuts the connection. */
export const disconnect: StepMaker = (value) => {
  const fields = new StepFields('disconnect', value === true ? {} : value);
  const abruptly = fields.flag('abruptly') ?? false;
  fields.nothingElse();
  return (user) => leave(user, abruptly);
};

/** Every virtual user disconnects at its end, whatever its flow. Never rejects. */
export async function leave(user: VirtualUser, abruptly = false): Promise<void> {
  const { client } = user;
  user.isLeaving = true;
  if (client === undefined) return;
  user.client = undefined;
  await end(client, abruptly);
  // Messages that it receives from now on do not count.
  client.removeAllListeners('message');
  client.on('error', () => {});
}

async function end(client: MqttClient, abruptly: boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      client.end(true);
      resolve();
    }, END_MS_MAX);
  });
  const ended = client.endAsync(abruptly).catch(() => {
    // It was closed already.
  });
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
