import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';
import type { RunningNode } from '../src/index.ts';
import { nodeForTest } from './support/nodes.ts';

const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

async function clientOf({ url }: RunningNode, options: mqtt.IClientOptions = {}) {
  const client = mqtt.connect(url, { protocolVersion: 5, ...options });
  const texts: string[] = [];
  client.on('message', (_topic, payload) => texts.push(payload.toString()));
  await new Promise<void>((resolve) => client.once('connect', () => resolve()));
  onTestFinished(async () => void (await client.endAsync(true)));
  return { client, texts };
}

test('a condition of a kept session outlives a restart of the node, before anyone asks for one', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-where-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const first = await nodeForTest({ dataDirectory });
  const subscriber = await clientOf(first, { clientId: 'kept', ...KEPT });
  const properties = { userProperties: { where: 'payload.t > 80' } };
  await subscriber.client.subscribeAsync('t', { qos: 1, properties });
  await subscriber.client.endAsync();
  await first.stop();

  const second = await nodeForTest({ dataDirectory });
  const publisher = await clientOf(second);
  for (const t of [1, 81, 2, 82]) await publisher.client.publishAsync('t', `{"t": ${t}}`, { qos: 1 });
  const again = await clientOf(second, { clientId: 'kept', ...KEPT });
  await publisher.client.publishAsync('t', '{"t": 3}', { qos: 1 });
  await publisher.client.publishAsync('t', '{"t": 83}', { qos: 1 });
  await expect.poll(() => again.texts).toEqual(['{"t": 81}', '{"t": 82}', '{"t": 83}']);
});
