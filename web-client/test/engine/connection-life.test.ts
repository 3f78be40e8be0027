import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDoors } from '@apus/cli';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Door, LoggedPacket } from '../../src/engine/types.ts';
import { bytes, profileFor, startBroker, subscriptionFor, TestConnection, urlOf } from '../support/engine.ts';

const DOORS: readonly Door[] = ['node', 'gateway'];

function typesSent(test: TestConnection): number[] {
  const { packets } = test.connection;
  const types: number[] = [];
  for (let at = packets.firstSequence; at < packets.endSequence; at += 1) {
    const packet: LoggedPacket | undefined = packets.at(at);
    if (packet?.direction === 'out') types.push(packet.type);
  }
  return types;
}

const SUBSCRIBE = 8;

describe.each(DOORS)('at the %s door', (door) => {
  test('the will is published if the end asks for it, and not otherwise', async () => {
    const node = await startBroker();
    const subscription = subscriptionFor('last/#');
    const watcher = new TestConnection(profileFor(node.url, { subscriptions: [subscription] })).open();
    await watcher.granted(subscription.id);
    const will = { topic: 'last/words', payload: 'bye', qos: 1, retain: false, properties: {} } as const;
    const leave = async (withWill: boolean): Promise<void> => {
      const leaver = new TestConnection(profileFor(urlOf(node, door), { door, will })).open();
      await leaver.until(({ status }) => status?.phase === 'connected');
      leaver.connection.close(withWill);
      expect(leaver.status?.phase).toBe('idle');
    };
    await leave(false);
    await leave(true);
    await watcher.until(({ received }) => received.length > 0);
    expect(watcher.received.map((message) => message.text())).toEqual(['bye']);
  });

  test('a session is resumed, with the messages that came meanwhile', async () => {
    const node = await startBroker();
    const subscription = subscriptionFor('t');
    const profile = profileFor(urlOf(node, door), {
      door,
      clientId: `resumes-${door}`,
      cleanStart: false,
      sessionExpiryIntervalSeconds: 60,
      subscriptions: [subscription],
    });
    const first = new TestConnection(profile).open();
    await first.granted(subscription.id);
    expect(first.status?.session?.sessionPresent).toBe(false);
    // Its DISCONNECT waits for the answer to each SUBSCRIBE, of which one is for notices.
    await first.until(() => first.connection.packets.size >= 6);
    first.connection.close();
    const other = new TestConnection(profileFor(node.url)).open();
    await other.until(({ status }) => status?.phase === 'connected');
    await other.connection.publish({ topic: 't', payload: bytes('meanwhile'), qos: 1, retain: false });
    const second = new TestConnection(profile).open();
    await second.until(({ received }) => received.length === 1);
    expect(second.status?.session?.sessionPresent).toBe(true);
    expect(second.received[0]?.text()).toBe('meanwhile');
  });
});

test('an invalid URL is reported before a socket is made', async () => {
  for (const url of ['http://127.0.0.1/mqtt', 'nowhere', 'ws://127.0.0.1/mqtt#x']) {
    const test = new TestConnection(profileFor(url)).open();
    await test.until(({ status }) => status?.phase === 'failed');
    expect(test.status?.trouble?.kind).toBe('url');
  }
});

test('a server that cannot be reached is tried again, at once when the user asks', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.once('listening', () => resolve(server.address() as AddressInfo)),
  );
  server.close();
  const url = `ws://127.0.0.1:${port}/mqtt`;
  for (const door of ['auto', 'node'] as const) {
    const test = new TestConnection(profileFor(url, { door, reconnectPeriodMs: 600_000 })).open();
    await test.until(({ status }) => status?.phase === 'waiting');
    expect(test.status?.trouble).toMatchObject({ kind: 'closed', code: 1006 });
    const node = await startDoors({ port });
    test.connection.retry();
    await test.until(({ status }) => status?.phase === 'connected');
    await node.stop();
    await test.until(({ status }) => status?.phase === 'waiting');
    expect(test.status?.trouble).toMatchObject({ kind: 'reason', code: 0x8b });
    test.connection.close();
  }
});

test('a token travels in the query of the URL, at the probe and at the connection', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mqtt' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const asked: (string | undefined)[] = [];
  const twice = new Promise<void>((resolve) => {
    server.on('connection', (_socket, request) => {
      asked.push(request.url);
      if (asked.length === 2) resolve();
    });
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt?region=eu`;
  new TestConnection(profileFor(url, { tokenParameter: 'jwt' })).open({ token: 'a b&c' });
  await twice;
  expect(asked).toEqual(['/mqtt?region=eu&jwt=a+b%26c', '/mqtt?region=eu&jwt=a+b%26c']);
});

test('a topic alias stands for its topic in the log', async () => {
  const node = await startBroker();
  const test = new TestConnection(profileFor(node.url, { door: 'node' })).open();
  await test.until(({ status }) => status?.phase === 'connected');
  const properties = { topicAlias: 3 };
  await test.connection.publish({
    topic: 'long/topic',
    payload: bytes('1'),
    qos: 1,
    retain: false,
    properties,
  });
  await test.connection.publish({ topic: '', payload: bytes('2'), qos: 1, retain: false, properties });
  await test.until(({ messages }) => messages.length === 2);
  expect(test.messages.map(({ topic }) => topic)).toEqual(['long/topic', 'long/topic']);
  // On the wire the second one has none.
  expect([...(test.messages[1]?.packet.subarray(2, 4) ?? [])]).toEqual([0, 0]);
});

test('only options for the server are sent: not a colour, not a name', async () => {
  const node = await startBroker();
  const subscription = subscriptionFor('t');
  const test = new TestConnection(
    profileFor(node.url, { door: 'node', subscriptions: [subscription] }),
  ).open();
  await test.granted(subscription.id);
  test.connection.setSubscriptions([{ ...subscription, alias: 'a name', color: 'pink' }]);
  test.connection.setSubscriptions([{ ...subscription, qos: 2 }]);
  await test.until(({ status }) => status?.subscriptions[subscription.id]?.grantedQos === 2);
  // The batch with the last acknowledgement brings what was sent before.
  await test.until(() => test.connection.packets.size >= 8);
  // One of them is for the notices of what the broker drops.
  expect(typesSent(test).filter((type) => type === SUBSCRIBE).length).toBe(3);
});

test('without a connection a publish fails at once, and says so', async () => {
  const test = new TestConnection(profileFor('ws://127.0.0.1:1/mqtt'));
  const outcome = await test.connection.publish({ topic: 't', payload: bytes(''), qos: 1, retain: false });
  expect(outcome).toMatchObject({ ok: false, trouble: { kind: 'offline' } });
});

test('with MQTT 3.1.1 a publish that is larger than what is known of the server is not sent', async () => {
  const node = await startBroker();
  const test = new TestConnection(profileFor(node.url, { protocolVersion: 4 })).open({}, 20);
  await test.until(({ status }) => status?.phase === 'connected');
  const request = { topic: 'large', qos: 1, retain: false } as const;
  // Fixed header 2, topic 2 + 5, packet identifier 2: 20 bytes with a payload of nine.
  expect((await test.connection.publish({ ...request, payload: bytes('123456789') })).ok).toBe(true);
  const { ok, trouble } = await test.connection.publish({ ...request, payload: bytes('1234567890') });
  expect({ ok, kind: trouble?.kind }).toEqual({ ok: false, kind: 'too-large' });
  expect(test.status?.phase).toBe('connected');
});
