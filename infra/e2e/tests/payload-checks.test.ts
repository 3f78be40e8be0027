import { createPublisher, PublishRefused } from '@apus/publish';
import { expect, test } from 'vitest';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

const RIGHT = '{"id":"s-1","celsius":20}';

test('payloads that do not fit the schema of their topic are refused, by the layer of the deployment', async () => {
  const topic = `checked/${unique('run')}/s`;
  const client = await connectClient();
  await client.mqtt.subscribeAsync(topic, { qos: 1 });
  for (const wrong of ['{"id":"x","celsius":20}', '{"id":"s-1"}', 'no JSON'])
    await expect(client.mqtt.publishAsync(topic, wrong, { qos: 1 })).rejects.toMatchObject({ code: 0x99 });
  await client.mqtt.publishAsync(topic, RIGHT, { qos: 1 });
  const backend = createPublisher({ url: deployed.publishUrl, key: deployed.publishKey });
  const refusal = await backend
    .publish(topic, '{"id":"s-1","celsius":"20"}')
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(PublishRefused);
  expect(refusal).toMatchObject({ status: 400, message: expect.stringContaining('/celsius must be number') });
  await backend.publish(topic, RIGHT, { qos: 1 });
  expect(await client.texts(2)).toEqual([RIGHT, RIGHT]);
});
