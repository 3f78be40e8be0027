import { startDoors } from '@apus/cli';
import { connect, createTransport } from '@apus/client';
import mqtt from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';

it.each([4, 5] as const)('@apus/client speaks MQTT %i in binary messages to a node', async (version) => {
  const node = await startDoors({ port: 0, logLevel: 'silent' });
  onTestFinished(() => node.stop());
  const transport = createTransport();
  const client = connect(mqtt, node.url, { protocolVersion: version }, transport);
  onTestFinished(() => void client.end(true));
  const came: string[] = [];
  client.on('message', (topic, payload) => came.push(`${topic} ${payload.length}`));
  await client.subscribeAsync('t/#', { qos: 2 });
  for (const qos of [0, 1, 2] as const) await client.publishAsync(`t/${qos}`, Buffer.alloc(100_000), { qos });
  await expect.poll(() => came).toEqual(['t/0 100000', 't/1 100000', 't/2 100000']);
  await client.endAsync();
  expect(transport.statistics).toMatchObject({ connections: 1, framesSent: 0 });
});
