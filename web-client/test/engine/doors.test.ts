import { describe, expect, test } from 'vitest';
import type { Door } from '../../src/engine/types.ts';
import { bytes, profileFor, startBroker, subscriptionFor, TestConnection, urlOf } from '../support/engine.ts';

const DOORS: readonly Door[] = ['node', 'gateway'];

describe.each(DOORS)('at the %s door', (door) => {
  test.each([4, 5] as const)(
    'MQTT version %i publishes and receives at every QoS',
    async (protocolVersion) => {
      const node = await startBroker();
      const subscription = subscriptionFor('a/#', { qos: 2 });
      const profile = profileFor(urlOf(node, door), { door, protocolVersion, subscriptions: [subscription] });
      const test = new TestConnection(profile).open();
      await test.granted(subscription.id);
      for (const qos of [0, 1, 2] as const) {
        const outcome = await test.connection.publish({
          topic: `a/${qos}`,
          payload: bytes('hello'),
          qos,
          retain: false,
        });
        expect(outcome).toMatchObject({ ok: true, trouble: undefined });
      }
      await test.until(({ received }) => received.length === 3);
      expect(test.received.map(({ topic, qos }) => [topic, qos])).toEqual([
        ['a/0', 0],
        ['a/1', 1],
        ['a/2', 2],
      ]);
      for (const message of test.received) {
        expect(message.text()).toBe('hello');
        expect(message.packet[0]).toBe(0x30 | (message.qos << 1));
        expect(message.subscriptionIds).toEqual([subscription.id]);
      }
      await test.until(({ status }) => status?.subscriptions[subscription.id]?.messages === 3);
      const published = test.messages.filter(({ direction }) => direction === 'published');
      expect(published.map(({ topic }) => topic)).toEqual(['a/0', 'a/1', 'a/2']);
    },
  );

  test('properties arrive as they were sent', async () => {
    const node = await startBroker();
    const subscription = subscriptionFor('p');
    const profile = profileFor(urlOf(node, door), { subscriptions: [subscription] });
    const test = new TestConnection(profile).open();
    await test.granted(subscription.id);
    const properties = {
      payloadFormatIndicator: true,
      messageExpiryIntervalSeconds: 60,
      responseTopic: 'reply/to',
      correlationData: new Uint8Array([0, 1, 255]),
      userProperties: [
        ['a', '1'],
        ['a', '2'],
        ['b', '3'],
      ] as const,
      contentType: 'text/plain',
    };
    await test.connection.publish({ topic: 'p', payload: bytes('x'), qos: 1, retain: false, properties });
    await test.until(({ received }) => received.length === 1);
    expect(test.received[0]?.properties).toMatchObject({ ...properties, subscriptionIdentifiers: [1] });
  });

  test('a reason code of the server reaches the publisher', async () => {
    const node = await startBroker();
    const test = new TestConnection(profileFor(urlOf(node, door))).open();
    await test.until(({ status }) => status?.phase === 'connected');
    const outcome = await test.connection.publish({
      topic: 'nobody',
      payload: bytes(''),
      qos: 1,
      retain: false,
    });
    expect(outcome).toMatchObject({ ok: true, reasonCode: 0x10 });
  });

  test('a wrong topic is reported and not sent', async () => {
    const node = await startBroker();
    const test = new TestConnection(profileFor(urlOf(node, door))).open();
    await test.until(({ status }) => status?.phase === 'connected');
    const outcome = await test.connection.publish({
      topic: 'a/+',
      payload: bytes(''),
      qos: 1,
      retain: false,
    });
    expect(outcome.trouble).toMatchObject({ kind: 'invalid' });
    expect(outcome.trouble?.detail).toContain('no wildcards');
  });

  test('every packet of both directions is in the timeline, in order', async () => {
    const node = await startBroker();
    const test = new TestConnection(profileFor(urlOf(node, door), { door })).open();
    await test.until(({ status }) => status?.phase === 'connected');
    await test.connection.publish({ topic: 'q', payload: bytes('x'), qos: 2, retain: false });
    const { packets } = test.connection;
    await test.until(() => packets.size === 6);
    const seen = Array.from({ length: packets.size }, (_, index) =>
      packets.at(packets.firstSequence + index),
    );
    expect(seen.map((packet) => [packet?.direction, packet?.type])).toEqual([
      ['out', 1],
      ['in', 2],
      ['out', 3],
      ['in', 5],
      ['out', 6],
      ['in', 7],
    ]);
  });
});

describe.each([
  // A CONNACK that says more than the client can tell by itself comes with the first reply.
  [
    'a version 5 client',
    5,
    [
      ['out', 'handshake', 1],
      ['out', 'fetch', 0],
      ['in', 'reply', 1],
    ],
    3,
  ],
  ['a version 4 client', 4, [['out', 'handshake', 1]], 1],
] as const)('at the gateway door, with %s', (_, protocolVersion, beginning, connackFrame) => {
  test('every packet of the timeline has its frame, and CONNECT its handshake', async () => {
    const node = await startBroker();
    const profile = profileFor(urlOf(node, 'gateway'), {
      door: 'gateway',
      protocolVersion,
      clientId: 'timeline',
    });
    const test = new TestConnection(profile).open();
    await test.until(({ status }) => status?.phase === 'connected');
    const { connection } = test;
    const publish = (topic: string) =>
      connection.publish({ topic, payload: bytes('x'), qos: 1, retain: false });
    await Promise.all([publish('a'), publish('b'), publish('c')]);
    await test.until(({ status }) => status?.traffic.gateway?.packets === 8);
    const { frames, packets } = connection;
    const oldestFirst = frames.newest().toReversed();
    expect(oldestFirst.map(({ direction, kind, packets: { length } }) => [direction, kind, length])).toEqual([
      ...beginning,
      ['out', 'request', 3],
      ['in', 'reply', 3],
    ]);
    const seen = Array.from({ length: packets.size }, (_, index) =>
      packets.at(packets.firstSequence + index),
    );
    const [request, reply] = [beginning.length + 1, beginning.length + 2];
    expect(seen.map((packet) => [packet?.type, packet?.frame])).toEqual([
      [1, 1],
      [2, connackFrame],
      [3, request],
      [3, request],
      [3, request],
      [4, reply],
      [4, reply],
      [4, reply],
    ]);
    const { framesSent = 0, framesReceived = 0, ...traffic } = test.status?.traffic.gateway ?? {};
    expect(framesSent + framesReceived).toBe(oldestFirst.length);
    const billed = beginning.length === 1 ? 2 : 4;
    expect(traffic).toMatchObject({ messagesBilled: billed, billedAlone: 8 });
  });
});
