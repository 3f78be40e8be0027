import { expect, it } from 'vitest';
import { connectClient, unique } from '../support/client.ts';

it('the last retained message of each topic greets a subscriber, and a deleted one does not', async () => {
  const root = unique('retained');
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync(`${root}/a`, 'old', { qos: 1, retain: true });
  await publisher.mqtt.publishAsync(`${root}/a`, 'new', { qos: 1, retain: true });
  await publisher.mqtt.publishAsync(`${root}/b`, 'deleted', { qos: 1, retain: true });
  await publisher.mqtt.publishAsync(`${root}/b`, '', { qos: 1, retain: true });
  await publisher.mqtt.publishAsync(`${root}/c`, 'kept', { qos: 1, retain: true });
  const subscriber = await connectClient();
  await subscriber.mqtt.subscribeAsync(`${root}/#`, { qos: 1 });
  await publisher.mqtt.publishAsync(`${root}/live`, 'live', { qos: 1 });
  const messages = await subscriber.messages(3);
  expect(messages.map(({ text }) => text)).toEqual(['new', 'kept', 'live']);
  expect(messages.map(({ packet }) => packet.retain)).toEqual([true, true, false]);
});
