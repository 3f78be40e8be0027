import type { MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { connect, type MqttModule } from '../src/index.ts';
import { MiniBroker } from './support/mini-broker.ts';
import { TextGateway } from './support/text-gateway.ts';

/** mqtt.js's build for browsers takes a process that has a window and a document for a browser. */
let mqtt: MqttModule;
let gateway: TextGateway;
const broker = new MiniBroker();

beforeAll(async () => {
  vi.stubGlobal('window', { document: {} });
  vi.stubGlobal('navigator', { userAgent: 'a browser', hardwareConcurrency: 2 });
  vi.stubGlobal('WebSocket', WebSocket);
  const name = 'mqtt/dist/mqtt.esm';
  const module: { default: MqttModule } = await import(name);
  mqtt = module.default;
  gateway = await TextGateway.start(broker, { handlerMs: () => 5 });
});

afterAll(async () => {
  vi.unstubAllGlobals();
  await gateway.stop();
  expect(gateway.violations).toEqual([]);
});

function opened(client: MqttClient): Promise<unknown> {
  return new Promise((resolve) => client.once('connect', resolve));
}

test.each([4, 5] as const)(
  'the build for browsers publishes, subscribes, reconnects and flushes, MQTT %i',
  async (protocolVersion) => {
    const client = connect(mqtt, gateway.url, { protocolVersion, timerVariant: 'native' });
    await opened(client);
    await client.subscribeAsync('a', { qos: 2 });
    const payloads: string[] = [];
    client.on('message', (_topic, payload) => payloads.push(payload.toString()));
    for (const qos of [0, 1, 2] as const) await client.publishAsync('a', `${qos}`, { qos });
    await expect.poll(() => payloads, { timeout: PATIENCE_MS }).toEqual(['0', '1', '2']);
    gateway.cut();
    await opened(client);
    const before = broker.published.length;
    for (let count = 0; count < 1_000; count += 1) client.publish('b', 'x'.repeat(500));
    await client.endAsync();
    expect(broker.published).toHaveLength(before + 1_000);
  },
);

test('end(true) does not wait, even for a reply that never comes', async () => {
  const client = connect(mqtt, gateway.url, { timerVariant: 'native' });
  await opened(client);
  client.publish('b', 'x', { qos: 1 });
  await client.endAsync(true);
  expect(client.connected).toBe(false);
});

test('backpressure bounds the bytes that mqtt.js hands over', async () => {
  let most = 0;
  const client = connect(mqtt, gateway.url, { timerVariant: 'native' });
  await opened(client);
  const socket = (client.stream as unknown as { socket: { bufferedAmount: number } }).socket;
  for (let count = 0; count < 400; count += 1) {
    await client.publishAsync('b', 'x'.repeat(5_000));
    most = Math.max(most, socket.bufferedAmount);
  }
  await client.endAsync();
  expect(most).toBeLessThan(600_000);
});
