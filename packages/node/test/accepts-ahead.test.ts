import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import mqtt from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';
import { nodeForTest } from './support/nodes.ts';

const MESSAGES = 200;

async function clientOf(url: string, options: mqtt.IClientOptions = {}) {
  const client = await mqtt.connectAsync(url, options);
  onTestFinished(async () => void (await client.endAsync(true)));
  return client;
}

test.each([4, 5] as const)(
  'messages of one publisher share commits of the disk, and keep their order [MQTT-4.6.0-6] (version %j)',
  async (protocolVersion) => {
    const directory = mkdtempSync(join(tmpdir(), 'apus-ahead-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const { url } = await nodeForTest({ dataDirectory: directory });
    const kept = { clean: false, clientId: 'kept', properties: { sessionExpiryInterval: 600 } };
    const subscriber = await clientOf(url, { protocolVersion: 5, ...kept });
    await subscriber.subscribeAsync('t', { qos: 1 });
    const received: string[] = [];
    subscriber.on('message', (_topic, payload) => received.push(String(payload)));
    const publisher = await clientOf(url, { protocolVersion });
    const path = join(directory, readdirSync(directory).find((name) => name.endsWith('mdb')) ?? '');
    const file = open({ path, noSubdir: true, readOnly: true });
    onTestFinished(() => file.close());
    const commits = () => (file.getStats() as { lastTxnId: number }).lastTxnId;
    const before = commits();
    const texts = Array.from({ length: MESSAGES }, (_, index) => String(index));
    await Promise.all(texts.map((text) => publisher.publishAsync('t', text, { qos: 1 })));
    await expect.poll(() => received).toEqual(texts);
    expect(commits() - before).toBeGreaterThan(0);
    // PUBACKs are commits, too.
    expect(commits() - before).toBeLessThan(MESSAGES / 2);
  },
);
