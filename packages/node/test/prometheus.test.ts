import { connectAsync } from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';
import { scrape } from './support/scrape.ts';

const KEY = 'a-key-of-more-than-22-characters';

/** Names that dashboards and alerts of EMQX use (`apps/emqx_prometheus/src/emqx_prometheus.erl` of its repository). */
const EMQX_GAUGES = [
  ...['emqx_connections_count', 'emqx_live_connections_count', 'emqx_sessions_count', 'emqx_retained_count'],
  ...['emqx_subscriptions_count', 'emqx_subscriptions_shared_count', 'emqx_delayed_count'],
];
const EMQX_COUNTERS = [
  ...['emqx_bytes_received', 'emqx_bytes_sent', 'emqx_packets_received', 'emqx_packets_sent'],
  ...['emqx_packets_connect', 'emqx_packets_connack_sent', 'emqx_packets_connack_error'],
  ...['emqx_packets_connack_auth_error', 'emqx_packets_publish_received', 'emqx_packets_publish_sent'],
  ...['emqx_packets_puback_received', 'emqx_packets_puback_sent', 'emqx_packets_pubrec_received'],
  ...['emqx_packets_pubrec_sent', 'emqx_packets_pubrel_received', 'emqx_packets_pubrel_sent'],
  ...['emqx_packets_pubcomp_received', 'emqx_packets_pubcomp_sent', 'emqx_packets_subscribe_received'],
  ...['emqx_packets_suback_sent', 'emqx_packets_unsubscribe_received', 'emqx_packets_unsuback_sent'],
  ...['emqx_packets_pingreq_received', 'emqx_packets_pingresp_sent', 'emqx_packets_disconnect_received'],
  ...['emqx_packets_disconnect_sent', 'emqx_packets_auth_received', 'emqx_packets_auth_sent'],
  ...['emqx_messages_received', 'emqx_messages_sent', 'emqx_messages_qos0_received'],
  ...['emqx_messages_qos0_sent', 'emqx_messages_qos1_received', 'emqx_messages_qos1_sent'],
  ...['emqx_messages_qos2_received', 'emqx_messages_qos2_sent', 'emqx_messages_dropped'],
  ...['emqx_messages_dropped_no_subscribers', 'emqx_delivery_dropped', 'emqx_delivery_dropped_queue_full'],
  ...['emqx_delivery_dropped_qos0_msg', 'emqx_delivery_dropped_too_large'],
];

describe('GET /api/v5/prometheus/stats', () => {
  test('is Prometheus’s text format, with EMQX’s names and types', async () => {
    const { httpUrl } = await nodeForTest();
    const { contentType, types, values } = await scrape(httpUrl);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const name of EMQX_GAUGES) expect([name, types.get(name)]).toEqual([name, 'GAUGE']);
    for (const name of EMQX_COUNTERS) expect([name, types.get(name)]).toEqual([name, 'COUNTER']);
    for (const [name, value] of values) expect([name, value >= 0]).toEqual([name, true]);
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  test('counts what clients do', async () => {
    const { httpUrl, url } = await nodeForTest();
    const client = await connectAsync(url, { protocolVersion: 5, clientId: 'counted' });
    onTestFinished(() => client.endAsync(true));
    await client.subscribeAsync(['a/#', '$share/g/b'], { qos: 2 });
    await client.publishAsync('a/1', 'x', { qos: 0 });
    await client.publishAsync('a/1', 'x', { qos: 1, retain: true });
    await client.publishAsync('a/1', 'x', { qos: 2 });
    await client.publishAsync('nobody/listens', 'x', { qos: 1 });
    await client.unsubscribeAsync('$share/g/b');
    const { values } = await scrape(httpUrl);
    expect(Object.fromEntries(values)).toMatchObject({
      emqx_connections_count: 1,
      emqx_live_connections_count: 1,
      emqx_subscriptions_count: 1,
      emqx_subscriptions_shared_count: 0,
      emqx_retained_count: 1,
      emqx_packets_connect: 1,
      emqx_packets_connack_sent: 1,
      emqx_packets_connack_error: 0,
      emqx_packets_subscribe_received: 1,
      emqx_packets_suback_sent: 1,
      emqx_packets_unsubscribe_received: 1,
      emqx_packets_unsuback_sent: 1,
      emqx_packets_puback_sent: 2,
      emqx_packets_pubrec_sent: 1,
      emqx_packets_pubrel_received: 1,
      emqx_packets_pubcomp_sent: 1,
      emqx_messages_received: 4,
      emqx_messages_qos0_received: 1,
      emqx_messages_qos1_received: 2,
      emqx_messages_qos2_received: 1,
      emqx_messages_sent: 3,
      emqx_messages_dropped: 1,
      emqx_messages_dropped_no_subscribers: 1,
      emqx_delivery_dropped: 0,
    });
  });

  test('counts the bytes of connections that are open, and of those that have ended', async () => {
    const { httpUrl, url } = await nodeForTest();
    const { client } = await RawClient.connect(url, { clientId: 'a' });
    const open = (await scrape(httpUrl)).values;
    expect(open.get('emqx_bytes_received')).toBeGreaterThan(10);
    client.send({ cmd: 'disconnect' });
    await client.expectClose();
    const ended = (await scrape(httpUrl)).values;
    // DISCONNECT, with its reason code.
    expect(ended.get('emqx_bytes_received')).toBe((open.get('emqx_bytes_received') ?? 0) + 4);
    expect(ended.get('emqx_bytes_sent')).toBe(open.get('emqx_bytes_sent'));
  });

  test('counts a CONNECT that is refused for its credential', async () => {
    const refusal = { refused: 0x86, reason: 'no' } as const;
    const { url, httpUrl } = await nodeForTest({
      authenticator: { authenticate: () => refusal },
      apiKey: KEY,
    });
    await RawClient.connect(url, { clientId: 'a' });
    const { values } = await scrape(httpUrl, { authorization: `Bearer ${KEY}` });
    expect(Object.fromEntries(values)).toMatchObject({
      emqx_packets_connect: 1,
      emqx_packets_connack_error: 1,
      emqx_packets_connack_auth_error: 1,
    });
  });

  test('wants the key where the API does', async () => {
    const { httpUrl } = await nodeForTest({ apiKey: KEY });
    expect((await scrape(httpUrl)).status).toBe(401);
    expect((await scrape(httpUrl, { authorization: `Bearer ${KEY}` })).status).toBe(200);
  });

  test('/metrics has the same counts', async () => {
    const { httpUrl } = await nodeForTest();
    const { body } = await call(httpUrl, '/metrics');
    const [metrics] = body as [Record<string, number>];
    expect(metrics).toMatchObject({ 'packets.received': 0, 'bytes.sent': 0, 'messages.dropped': 0 });
  });
});
