import { expect, it } from 'vitest';
import { connectClient } from '../support/client.ts';
import { LEFT_BEHIND } from '../support/left-behind.ts';

it('a session with a queue and a retained message are left for the next deployment', async () => {
  const { clientId, filter, retained, queued } = LEFT_BEHIND;
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync(retained.topic, retained.payload, { qos: 1, retain: true });
  const properties = { sessionExpiryInterval: 3_600 };
  const subscriber = await connectClient({ clientId, clean: true, properties });
  await subscriber.mqtt.subscribeAsync(filter, { qos: 1 });
  expect(await subscriber.texts(1)).toEqual([retained.payload]);
  await subscriber.end();
  await publisher.mqtt.publishAsync(queued.topic, queued.payload, { qos: 1 });
});
