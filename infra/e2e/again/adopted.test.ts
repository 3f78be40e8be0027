import { expect, it } from 'vitest';
import { connectClient } from '../support/client.ts';
import { LEFT_BEHIND } from '../support/left-behind.ts';

const { clientId, filter, retained, queued } = LEFT_BEHIND;

it('a session of the earlier deployment still has its subscription and its queue', async () => {
  const properties = { sessionExpiryInterval: 0 };
  const subscriber = await connectClient({ clientId, clean: false, properties });
  expect(subscriber.connack.sessionPresent).toBe(true);
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync('left-behind/live', 'live', { qos: 1 });
  expect(await subscriber.texts(2)).toEqual([queued.payload, 'live']);
});

it('a retained message of the earlier deployment reaches a new subscriber', async () => {
  const subscriber = await connectClient();
  await subscriber.mqtt.subscribeAsync(filter, { qos: 1 });
  expect(await subscriber.messages(1)).toMatchObject([{ topic: retained.topic, text: retained.payload }]);
});
