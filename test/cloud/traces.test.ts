import { connect as connectInTextFrames } from '@apus/client';
import { OtlpExporter, Tracer } from '@apus/door';
import { otlpReceiver, type ReceivedSpan } from '@apus/node/testing';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SAMPLED = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: 'vendor=a1' };
/** More subscribers than a filter's head item holds here: a worker serves the others. */
const SUBSCRIBERS = 4;

let world: CloudWorld;
let tracer: Tracer;
let spans: ReceivedSpan[];
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  const receiver = await otlpReceiver();
  spans = receiver.spans;
  const exporter = new OtlpExporter({
    url: receiver.url,
    resource: { 'service.name': 'apus' },
    timeoutMs: 10_000,
  });
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  tracer = new Tracer({ exporter, log });
  world = await startCloud({ seed: 17, tracer, inlineSubscribersMax: 2, shardSubscribers: 8 });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  expect(world.failures).toEqual([]);
});

async function connect(): Promise<mqtt.MqttClient> {
  const client = connectInTextFrames(mqtt, world.url, { protocolVersion: 5, reconnectPeriod: 0 });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return client;
}

it('the path of a message through the functions is one trace, including workers, and its context arrives unchanged', async () => {
  const contexts: object[] = [];
  for (let index = 0; index < SUBSCRIBERS; index += 1) {
    const subscriber = await connect();
    subscriber.on('message', (_topic, _payload, packet) =>
      contexts.push({ ...packet.properties?.userProperties }),
    );
    await subscriber.subscribeAsync('news', { qos: 1 });
  }
  const publisher = await connect();
  await publisher.publishAsync('news', 'x', { qos: 1, properties: { userProperties: SAMPLED } });
  await vi.waitFor(() => expect(contexts).toHaveLength(SUBSCRIBERS), { timeout: 60_000 });
  await world.emulator.quiet();
  await tracer.flush();
  expect(contexts).toEqual(Array.from({ length: SUBSCRIBERS }, () => SAMPLED));
  const receive = spans.find(({ name }) => name === 'receive');
  expect(receive).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, traceState: 'vendor=a1' });
  expect(spans.find(({ name }) => name === 'route')?.parentSpanId).toBe(receive?.spanId);
  const parents = spans.filter(({ name }) => name === 'deliver').map(({ parentSpanId }) => parentSpanId);
  // The function that took it delivers to those in the head item, and the worker, in another environment, to the
  // others.
  expect(new Set(parents)).toEqual(new Set([receive?.spanId, PARENT_ID]));
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
});

it('no span is recorded if the publisher does not ask for it', async () => {
  const publisher = await connect();
  await publisher.publishAsync('news', 'x', { qos: 1 });
  const userProperties = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` };
  await publisher.publishAsync('news', 'x', { qos: 1, properties: { userProperties } });
  expect(tracer.waiting).toBe(0);
});
