import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES } from './util/bytes.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import { allow } from './util/permissions.ts';

const { NotAuthorized, QuotaExceeded, TopicFilterInvalid } = ReasonCode;

const VERSIONS = [
  { name: 'MQTT 5.0', protocolVersion: 5, noProperties: NO_PROPERTIES },
  { name: 'MQTT 3.1.1', protocolVersion: 4, noProperties: Buffer.alloc(0) },
] as const;

describe('SUBSCRIBE is answered', () => {
  const door = useDoor();

  for (const { name, protocolVersion } of VERSIONS) {
    test(`with SUBACK and its packet identifier, ${name} [MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-2.2.1-6] [MQTT3-3.8.4-1] [MQTT3-3.8.4-2] [MQTT3-2.3.1-7]`, async () => {
      const client = await door.connect({ protocolVersion });
      for (const messageId of [0xabcd, 1]) {
        client.raw.send({ cmd: 'subscribe', messageId, subscriptions: [{ topic: unique('t'), qos: 0 }] });
        expect(await client.raw.expect('suback')).toMatchObject({ messageId, granted: [0] });
      }
    });

    test(`with one code for each filter, in their order, ${name} [MQTT-3.8.4-5] [MQTT-3.8.4-6] [MQTT-3.8.4-7] [MQTT-3.9.3-1] [MQTT-3.9.3-2] [MQTT3-3.8.4-4] [MQTT3-3.8.4-5] [MQTT3-3.9.3-1] [MQTT3-3.9.3-2]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      const qos = [2, 0, 1, 1, 0, 2] as const;
      const filters = qos.map((value, index) => ({ topic: `${topic}/${index}`, qos: value }));
      expect(await client.subscribe(filters)).toEqual(qos);
      await client.expectNothing();
    });

    test(`after several filters as after several SUBSCRIBEs: of two alike the last counts, ${name} [MQTT-3.8.4-5] [MQTT-3.8.4-3] [MQTT3-3.8.4-4] [MQTT3-3.8.4-3]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe([
        { topic, qos: 2 },
        { topic, qos: 0 },
      ]);
      await (await door.connect()).publish(topic, 'x', { qos: 2 });
      expect(await client.receive()).toMatchObject({ payload: 'x', qos: 0 });
      await client.expectNothing();
    });
  }

  test('with 0x8F for an invalid filter, and the others are subscribed [MQTT-3.8.4-7] [MQTT-3.9.3-1] [MQTT-3.9.3-2] [MQTT-4.7.1-1] [MQTT-4.7.1-2]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    const codes = await client.subscribe([`${topic}/a`, `${topic}/#/b`, `${topic}/b`, `${topic}+`], {
      qos: 1,
    });
    expect(codes).toEqual([1, TopicFilterInvalid, 1, TopicFilterInvalid]);
    const publisher = await door.connect();
    for (const name of ['a', 'b', 'c']) await publisher.publish(`${topic}/${name}`, name, { qos: 1 });
    const received = [await client.receive(), await client.receive()];
    expect(received.map(({ payload }) => payload)).toEqual(['a', 'b']);
    await client.expectNothing();
  });

  test('within the client’s Maximum Packet Size [MQTT-3.9.2-1] [MQTT-3.9.2-2] [MQTT-3.1.2-24]', async () => {
    const client = await door.connect({ properties: { maximumPacketSize: 40 } });
    const invalid = Array.from({ length: 10 }, (_, index) => `a${index}#`);
    const messageId = client.nextPacketId();
    client.raw.send({
      cmd: 'subscribe',
      messageId,
      subscriptions: invalid.map((topic) => ({ topic, qos: 0 })),
    });
    const suback = await client.take('suback', messageId);
    expect(client.raw.bytesOf(suback).length).toBeLessThanOrEqual(40);
    expect(suback.granted).toEqual(invalid.map(() => TopicFilterInvalid));
  });

  test('without a Reason String where Request Problem Information is 0 [MQTT-3.1.2-29]', async () => {
    const client = await door.connect({ properties: { requestProblemInformation: false } });
    const messageId = client.nextPacketId();
    client.raw.send({ cmd: 'subscribe', messageId, subscriptions: [{ topic: 'a#', qos: 0 }] });
    const suback = await client.take('suback', messageId);
    expect(suback.properties).toBeUndefined();
  });
});

describe('A subscription', () => {
  const door = useDoor();

  for (const granted of [0, 1, 2] as const) {
    test(`with QoS ${granted} gets messages at the lower of the two QoS [MQTT-3.8.4-8] [MQTT3-3.8.4-6]`, async () => {
      const topic = unique('t');
      const clients = [await door.connect(), await door.connect311()];
      for (const client of clients) await client.subscribe(topic, { qos: granted });
      const publisher = await door.connect();
      for (const published of [0, 1, 2] as const) {
        await publisher.publish(topic, 'x', { qos: published });
        for (const client of clients) {
          expect(await client.receive()).toMatchObject({ qos: Math.min(granted, published) });
        }
      }
    });
  }

  test('with No Local does not get the client’s own messages, on any of its connections [MQTT-3.8.3-3]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { nl: true, qos: 1 });
    await before.publish(topic, 'own', { qos: 1 });
    await before.expectNothing();
    await before.disconnect();
    const after = await door.resume(clientId);
    await after.publish(topic, 'own', { qos: 1 });
    await after.expectNothing();
    await (await door.connect()).publish(topic, 'of another', { qos: 1 });
    expect(await after.receive()).toMatchObject({ payload: 'of another' });
  });

  test('without No Local gets the client’s own messages [MQTT-3.8.3-3]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(topic, { nl: false });
    await client.publish(topic, 'own');
    expect(await client.receive()).toMatchObject({ payload: 'own' });
  });

  test('with a Subscription Identifier gets it with each message, the largest too [MQTT-3.3.4-3] [MQTT-3.3.4-4]', async () => {
    const publisher = await door.connect();
    for (const identifier of [1, 127, 128, 268_435_455]) {
      const topic = unique('t');
      const client = await door.connect();
      await client.subscribe(topic, { identifier });
      await publisher.publish(topic, 'x');
      expect((await client.receive()).properties).toEqual({ subscriptionIdentifier: identifier });
    }
  });

  for (const { name, protocolVersion } of VERSIONS) {
    test(`to a filter that is subscribed already replaces it: one copy, the new QoS, ${name} [MQTT-3.8.4-3] [MQTT3-3.8.4-3]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe(topic, { qos: 0 });
      const publisher = await door.connect();
      for (const qos of [2, 1] as const) {
        await client.subscribe(topic, { qos });
        await publisher.publish(topic, 'x', { qos: 2 });
        expect(await client.receive()).toMatchObject({ qos });
        await client.expectNothing();
      }
    });
  }

  test('to a filter that is subscribed already replaces its options and its identifier [MQTT-3.8.4-3]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(topic, { nl: true, identifier: 7 });
    await client.subscribe(topic, { identifier: 8 });
    await client.publish(topic, 'own');
    expect((await client.receive()).properties).toEqual({ subscriptionIdentifier: 8 });
    await client.subscribe(topic);
    await client.publish(topic, 'own');
    expect((await client.receive()).properties).toEqual({});
    await client.subscribe(topic, { nl: true });
    await client.publish(topic, 'own');
    await client.expectNothing();
  });

  test('that is replaced while messages flow loses none of them and doubles none [MQTT-3.8.4-4] [MQTT3-3.8.4-3]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(topic, { qos: 1, rh: 2 });
    const publisher = await door.connect();
    const sent = Array.from({ length: 60 }, (_, index) => `${index}`);
    const publishing = (async () => {
      for (const payload of sent) await publisher.publish(topic, payload, { qos: 1 });
    })();
    for (let round = 0; round < 10; round += 1)
      await client.subscribe(topic, { qos: round % 2 ? 1 : 2, rh: 2 });
    const received: string[] = [];
    while (received.length < sent.length) received.push((await client.receive()).payload);
    await publishing;
    expect(received).toEqual(sent);
    await client.expectNothing();
  });

  test('stays with its session, options and identifier included [MQTT-4.5.0-1] [MQTT-3.3.4-3]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 2, rap: true, nl: true, identifier: 9 });
    await before.disconnect();
    const after = await door.resume(clientId);
    await after.publish(topic, 'own', { qos: 1 });
    await after.expectNothing();
    const publisher = await door.connect();
    await publisher.publish(topic, 'x', { qos: 2, retain: true });
    const message = await after.receive();
    await publisher.publish(topic, '', { retain: true });
    expect(message).toMatchObject({ payload: 'x', qos: 2, retain: true });
    expect(message.properties).toEqual({ subscriptionIdentifier: 9 });
  });
});

describe(withOptions('SUBSCRIBE beyond the limit of subscriptions'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ subscriptionsPerSessionMax: 2 });

  test('gets 0x80 in MQTT 3.1.1 [MQTT3-3.8.4-5]', async () => {
    const client = await door.connect311();
    expect(await client.subscribe(['a', 'b', 'c'])).toEqual([0, 0, 0x80]);
  });
});

describe('SUBSCRIBE with filters that overlap', () => {
  const door = useDoor();

  test(
    'gets 0x97 where one message could match more than 64 filters of the session [SEC-WORK-1]',
    onlyAt('node', 'a deployment has 64 shapes of filters for a tenant'),
    async () => {
      const [client, topic] = [await door.connect(), unique('t')];
      // Each level is a literal or a wildcard: 128 shapes, and all of them match one topic.
      const filters = Array.from({ length: 128 }, (_, number) =>
        [topic, ...Array.from({ length: 7 }, (_, level) => ((number >> level) & 1 ? '+' : 'x'))].join('/'),
      );
      const codes = await client.subscribe(filters);
      expect(codes.filter((code) => code === 0)).toHaveLength(64);
      expect(codes.slice(64)).toEqual(Array(64).fill(QuotaExceeded));
      // Any number of filters of a shape that is there.
      const more = filters.slice(0, 64).map((filter) => filter.replaceAll('x', 'y'));
      expect(await client.subscribe(more)).toEqual(Array(64).fill(0));
      await client.unsubscribe(filters[1] ?? '');
      await client.unsubscribe(more[1] ?? '');
      expect(await client.subscribe([filters[100] ?? '', filters[101] ?? ''])).toEqual([0, QuotaExceeded]);
    },
  );
});

describe(withOptions('SUBSCRIBE without permission'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ authorizer: allow({ subscribe: (filter) => !filter.startsWith('forbidden') }) });

  test('gets 0x87 for that filter, and nothing is delivered for it [MQTT-3.9.3-2] [MQTT-3.8.4-7]', async () => {
    const client = await door.connect();
    expect(await client.subscribe(['allowed', 'forbidden/#', '$share/g/forbidden/#'], { qos: 1 })).toEqual([
      1,
      NotAuthorized,
      NotAuthorized,
    ]);
    const publisher = await door.connect();
    await publisher.publish('forbidden/x', 'x');
    await publisher.publish('allowed', 'marker');
    expect(await client.receive()).toMatchObject({ payload: 'marker' });
  });

  test('gets 0x80 in MQTT 3.1.1 [MQTT3-3.8.4-5]', async () => {
    const client = await door.connect311();
    expect(await client.subscribe(['forbidden', 'allowed'], { qos: 1 })).toEqual([0x80, 1]);
  });
});
