import mqtt from 'mqtt';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LogEntry } from '../src/log.ts';
import { nodeForTest } from './support/nodes.ts';
import { otlpReceiver, type ReceivedSpan } from './support/otlp-receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SAMPLED = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: 'vendor=a1,other=b2' };
const SERVER = 2;
const PRODUCER = 4;

async function client(url: string): Promise<mqtt.MqttClient> {
  const connected = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 0 });
  onTestFinished(async () => await connected.endAsync(true));
  return connected;
}

const attributeOf = (span: ReceivedSpan | undefined, key: string): string | undefined =>
  Object.values(span?.attributes.find((each) => each.key === key)?.value ?? {})[0];

async function publish(publisher: mqtt.MqttClient, userProperties: Record<string, string>, topic = 'a/b') {
  await publisher.publishAsync(topic, 'x', { qos: 1, properties: { userProperties } });
}

test('a message whose publisher asks for it leaves three spans, and its context as it came', async () => {
  const { url, spans, requests } = await otlpReceiver();
  const node = await nodeForTest({ traces: { url, headers: { authorization: 'Bearer abc' } } });
  const [publisher, subscriber] = [await client(node.url), await client(node.url)];
  await subscriber.subscribeAsync('a/+', { qos: 1 });
  const received = new Promise<mqtt.IPublishPacket>((resolve) => {
    subscriber.once('message', (_topic, _payload, packet) => resolve(packet));
  });
  await publish(publisher, { other: '1', ...SAMPLED });
  expect({ ...(await received).properties?.userProperties }).toEqual({ other: '1', ...SAMPLED });
  await vi.waitFor(() => expect(spans).toHaveLength(3), { timeout: 15_000 });
  const of = (name: string) => spans.find((span) => span.name === name);
  const [receive, route, deliver] = [of('receive'), of('route'), of('deliver')];
  expect(spans.map(({ traceId, traceState }) => [traceId, traceState])).toEqual(
    Array.from({ length: 3 }, () => [TRACE_ID, SAMPLED.tracestate]),
  );
  expect(receive).toMatchObject({ parentSpanId: PARENT_ID, kind: SERVER });
  expect([route?.parentSpanId, deliver?.parentSpanId]).toEqual([receive?.spanId, receive?.spanId]);
  expect(deliver?.kind).toBe(PRODUCER);
  expect(attributeOf(receive, 'messaging.destination.name')).toBe('a/b');
  expect(attributeOf(receive, 'apus.tenant')).toBe('default');
  expect([attributeOf(route, 'apus.filters'), attributeOf(deliver, 'apus.deliveries')]).toEqual(['1', '1']);
  expect(requests[0]).toEqual({ path: '/v1/traces', authorization: 'Bearer abc' });
});

test('a message of a backend is traced as well', async () => {
  const { url, spans } = await otlpReceiver();
  const node = await nodeForTest({ traces: { url } });
  const body = { topic: 'a/b', payload: 'x', properties: { user_properties: SAMPLED } };
  const answer = await fetch(new URL('/api/v5/publish', node.httpUrl), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(202);
  await node.stop();
  expect(spans.map(({ name }) => name).sort()).toEqual(['receive', 'route']);
});

test.each([
  ['does not ask for it', { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` }],
  ['names no trace', { traceparent: `00-${'0'.repeat(32)}-${PARENT_ID}-01` }],
  ['names something else', { traceparent: `00-${TRACE_ID}-01` }],
  ['says nothing', { other: '1' }],
])('a message whose publisher %s leaves no span', async (_, userProperties) => {
  const { url, spans } = await otlpReceiver();
  const node = await nodeForTest({ traces: { url } });
  await publish(await client(node.url), userProperties);
  await node.stop();
  expect(spans).toEqual([]);
});

test('a trace state that no header may have is left out of the span', async () => {
  const { url, spans } = await otlpReceiver();
  const node = await nodeForTest({ traces: { url } });
  await publish(await client(node.url), { ...SAMPLED, tracestate: 'x'.repeat(513) });
  await node.stop();
  expect(spans[0]?.traceState).toBeUndefined();
});

test('a flood of traces is cut to a hundred a second, and its messages are not', async () => {
  const { url, spans } = await otlpReceiver();
  const node = await nodeForTest({ traces: { url } });
  const publisher = await client(node.url);
  const beganMs = Date.now();
  const messages = 1_000;
  await Promise.all(Array.from({ length: messages }, () => publish(publisher, SAMPLED)));
  const seconds = Math.ceil((Date.now() - beganMs) / 1_000) + 1;
  await node.stop();
  const traced = spans.filter(({ name }) => name === 'receive').length;
  expect(traced).toBeGreaterThan(0);
  expect(traced).toBeLessThanOrEqual(Math.min(100 * seconds, messages - 1));
});

test('a collector that is not there stops nothing, and the log says so', async () => {
  const events: string[] = [];
  const logSink = ({ event }: LogEntry) => void events.push(event);
  const node = await nodeForTest({ traces: { url: 'http://127.0.0.1:1' }, logLevel: 'warn', logSink });
  await publish(await client(node.url), SAMPLED);
  await node.stop();
  expect(events).toContain('spans-not-exported');
});
