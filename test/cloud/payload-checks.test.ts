import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectInTextFrames } from '@apus/client';
import { compileTopics, readTopics } from '@apus/topics';
import { CompiledPayloads } from '@apus/topics/checked';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backendOf } from './backend.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

const PAYLOAD_FORMAT_INVALID = 0x99;
const RIGHT = '{"celsius":20}';
const WRONG = '{"celsius":"20"}';
const REASON = '/celsius must be number';

const TOPICS = [
  {
    topic: 'sensors/{sensor}',
    checkPayload: true,
    payload: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
  },
];

let world: CloudWorld;
let payloads: CompiledPayloads;
let refused = 0;
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  refused = 0;
  const { text } = compileTopics(readTopics({ topics: TOPICS }).topics);
  const folder = mkdtempSync(join(tmpdir(), 'apus-checks-'));
  writeFileSync(join(folder, 'index.cjs'), text);
  const checks = createRequire(import.meta.url)(join(folder, 'index.cjs'));
  rmSync(folder, { recursive: true });
  const count = () => {
    refused += 1;
  };
  payloads = new CompiledPayloads(checks, count);
  world = await startCloud({ seed: 29, payloads, shapes: ['.+'] });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  expect(world.failures).toEqual([]);
});

async function connect(options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = connectInTextFrames(mqtt, world.url, { protocolVersion: 5, reconnectPeriod: 0, ...options });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return client;
}

async function watcher(): Promise<string[]> {
  const texts: string[] = [];
  const client = await connect();
  client.on('message', (_topic, payload) => texts.push(payload.toString()));
  await client.subscribeAsync('sensors/+', { qos: 2 });
  return texts;
}

describe('a payload that the schema of its topic does not allow, at a deployment', () => {
  it.each([1, 2] as const)(
    'is refused with 0x99 at QoS %i, and reaches no subscriber [MQTT-3.3.1-4]',
    async (qos) => {
      const texts = await watcher();
      const publisher = await connect();
      await expect(publisher.publishAsync('sensors/1', WRONG, { qos })).rejects.toMatchObject({
        code: PAYLOAD_FORMAT_INVALID,
      });
      await publisher.publishAsync('sensors/1', RIGHT, { qos });
      await vi.waitFor(() => expect(texts).toEqual([RIGHT]), { timeout: 60_000 });
      expect(refused).toBe(1);
    },
  );

  it('is refused to a backend with 400, alone and within a list of which nothing behind it is published', async () => {
    const texts = await watcher();
    const post = backendOf(world, { payloads });
    const message = (payload: string) => ({ topic: 'sensors/1', payload, qos: 1 });
    expect(await post('/api/v5/publish', message(WRONG))).toMatchObject({
      status: 400,
      body: { reason_code: PAYLOAD_FORMAT_INVALID, message: REASON },
    });
    const bulk = await post('/api/v5/publish/bulk', [
      message(RIGHT),
      message(WRONG),
      message('{"celsius":3}'),
    ]);
    expect(bulk).toMatchObject({ status: 400 });
    await vi.waitFor(() => expect(texts).toEqual([RIGHT]), { timeout: 60_000 });
  });

  it('is refused unread where it is longer than a check may take', async () => {
    const post = backendOf(world, { payloads });
    const payload = JSON.stringify({ celsius: 1, text: 'x'.repeat(65_536) });
    expect(await post('/api/v5/publish', { topic: 'sensors/1', payload })).toMatchObject({
      status: 400,
      body: { message: 'a payload that is checked has at most 65536 bytes' },
    });
    expect((await post('/api/v5/publish', { topic: 'pictures/1', payload })).status).toBe(202);
  });
});
