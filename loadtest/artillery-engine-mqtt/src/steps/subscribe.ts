import type { IClientSubscribeOptions } from 'mqtt';
import { StepFields } from '../fields.ts';
import { UserError } from '../step-error.ts';
import type { StepMaker } from './step.ts';

/** `subscribe: { topics: "a/#", qos: 1 }`: waits for SUBACK. */
export const subscribe: StepMaker = (value) => {
  const fields = new StepFields('subscribe', value);
  const topics = fields.texts('topics');
  const qos = fields.oneOf('qos', [0, 1, 2]) ?? 0;
  fields.nothingElse();
  return async (user) => {
    const { events } = user.around;
    const filters = topics.map((topic) => user.fillText(topic));
    const options: IClientSubscribeOptions = { qos };
    try {
      await user.needClient.subscribeAsync([...filters], options);
    } catch (error) {
      throw new UserError('subscribe_refused', `${filters.join(', ')}: ${(error as Error).message}`);
    }
    user.subscribed(filters);
    events.emit('counter', 'mqtt.subscribed', filters.length);
  };
};

/** `unsubscribe: { topics: "a/#" }`: waits for UNSUBACK. */
export const unsubscribe: StepMaker = (value) => {
  const fields = new StepFields('unsubscribe', value);
  const topics = fields.texts('topics');
  fields.nothingElse();
  return async (user) => {
    const filters = topics.map((topic) => user.fillText(topic));
    await user.needClient.unsubscribeAsync([...filters]);
    user.unsubscribed(filters);
  };
};
