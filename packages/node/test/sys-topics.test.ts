import { connectAsync, type MqttClient } from 'mqtt';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

/** A client that remembers the last message of each topic. */
async function listener(
  url: string,
  filter: string,
  options: object = {},
): Promise<{ readonly client: MqttClient; readonly last: Map<string, string> }> {
  const client = await connectAsync(url, { protocolVersion: 5, keepalive: 0, ...options });
  onTestFinished(() => client.endAsync(true));
  const last = new Map<string, string>();
  client.on('message', (topic, payload) => last.set(topic, payload.toString()));
  await client.subscribeAsync(filter, { qos: 0 });
  return { client, last };
}

describe('$SYS/brokers/…', () => {
  test('has the figures each minute, by EMQX’s names', async () => {
    const clock = new FakeScheduler();
    const { url } = await nodeForTest({ clock });
    const { client, last } = await listener(url, '$SYS/brokers/#');
    await client.publishAsync('a', 'x', { qos: 1 });
    clock.advance(59_999);
    await client.publishAsync('a', 'x', { qos: 1 });
    expect(last.has('$SYS/brokers/apus/version')).toBe(false);
    clock.advance(1);
    await vi.waitFor(() => expect(last.get('$SYS/brokers/apus/metrics/messages/dropped')).toBe('2'));
    expect(last.get('$SYS/brokers/apus/metrics/messages/received')).toBe('2');
    expect(last.get('$SYS/brokers/apus/metrics/packets/connect/received')).toBe('1');
    expect(last.get('$SYS/brokers/apus/stats/connections/count')).toBe('1');
    expect(last.get('$SYS/brokers/apus/stats/live_connections/count')).toBe('1');
    expect(last.get('$SYS/brokers')).toBe('apus');
    expect(last.get('$SYS/brokers/apus/version')).toBe(manifest.version);
    expect(last.get('$SYS/brokers/apus/sysdescr')).toBe('Apus MQTT broker');
  });

  test('has uptime, in milliseconds, and the time each half minute', async () => {
    const clock = new FakeScheduler();
    const { url } = await nodeForTest({ clock });
    const { last } = await listener(url, '$SYS/brokers/+/+');
    clock.advance(30_000);
    await vi.waitFor(() => expect(last.has('$SYS/brokers/apus/datetime')).toBe(true));
    expect(last.get('$SYS/brokers/apus/uptime')).toBe('30000');
    expect(last.get('$SYS/brokers/apus/datetime')).toBe(new Date(clock.now()).toISOString());
    expect(last.has('$SYS/brokers/apus/version')).toBe(false);
  });

  test('a client that comes later gets the version at once, and # covers none of it', async () => {
    const clock = new FakeScheduler();
    const { url } = await nodeForTest({ clock });
    const { last: all } = await listener(url, '#');
    clock.advance(60_000);
    const { last } = await listener(url, '$SYS/#');
    await vi.waitFor(() => expect(last.get('$SYS/brokers/apus/version')).toBe(manifest.version));
    expect([...last.keys()].sort()).toEqual([
      '$SYS/brokers',
      '$SYS/brokers/apus/sysdescr',
      '$SYS/brokers/apus/version',
    ]);
    expect(all.size).toBe(0);
  });

  test('is for clients whose rules name it, and no client publishes there', async () => {
    const rulesOf = (subscribe: readonly string[]) => ({
      identity: {
        tenant: 'default',
        name: 'a',
        rules: [{ effect: 'allow', action: 'all', topicFilters: subscribe }],
      },
    });
    const clock = new FakeScheduler();
    const { url } = await nodeForTest({
      clock,
      authenticator: {
        authenticate: ({ username }) =>
          rulesOf(username === 'operator' ? ['$SYS/#'] : ['#']).identity as never,
      },
    });
    const { client: operator } = await listener(url, '$SYS/brokers/#', {
      username: 'operator',
      password: 'x',
    });
    await expect(listener(url, '$SYS/brokers/#', { username: 'other', password: 'x' })).rejects.toThrow();
    await expect(operator.publishAsync('$SYS/brokers/apus/version', '9', { qos: 1 })).rejects.toThrow();
  });

  test('[SEC-TENANT-4] tells the tenant `default` alone: the figures are those of all', async () => {
    const clock = new FakeScheduler();
    const { url } = await nodeForTest({
      clock,
      authenticator: { authenticate: ({ username }) => ({ tenant: username ?? 'default', name: 'a' }) },
      authorizer: { mayPublish: () => true, maySubscribe: () => true } as never,
    });
    const { last: others } = await listener(url, '$SYS/#', { username: 'acme', password: 'x' });
    const { last } = await listener(url, '$SYS/#', { username: 'default', password: 'x' });
    clock.advance(60_000);
    await vi.waitFor(() => expect(last.size).toBeGreaterThan(40));
    expect([...others.keys()].filter((topic) => !topic.includes('/clients/'))).toEqual([]);
  });

  test('is published no more where the interval is 0', async () => {
    const clock = new FakeScheduler();
    const { httpUrl, url } = await nodeForTest({ clock, sysIntervalSeconds: 0, sysHeartbeatSeconds: 0 });
    const { client, last } = await listener(url, '$SYS/brokers/apus/#');
    clock.advance(600_000);
    await client.publishAsync('a', 'x', { qos: 1 });
    expect(last.size).toBe(0);
    expect((await call(httpUrl, '/stats')).body).toMatchObject([{ 'retained.count': 0 }]);
  });
});
