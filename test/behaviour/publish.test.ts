import { randomBytes } from 'node:crypto';
import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { differsAt, onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, packet, text, u16 } from './util/bytes.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import { allow } from './util/permissions.ts';

const LARGE_BYTES = differsAt('gateway', 'a packet from a client is at most 24,573 bytes') ? 24_000 : 200_000;

const { MalformedPacket, NotAuthorized, ProtocolError, TopicNameInvalid } = ReasonCode;

const PUBLISH_QOS_0 = 0x30;

/** A packet in MQTT 5.0 carries a property list, in 3.1.1 nothing. */
const VERSIONS = [
  { name: 'MQTT 5.0', protocolVersion: 5, noProperties: NO_PROPERTIES },
  { name: 'MQTT 3.1.1', protocolVersion: 4, noProperties: Buffer.alloc(0) },
] as const;

describe('PUBLISH from a client', () => {
  const door = useDoor();

  for (const { name, protocolVersion, noProperties } of VERSIONS) {
    for (const wildcard of ['+', '#']) {
      test(`a topic name with ${wildcard} is refused and reaches no subscriber, ${name} [MQTT-3.3.2-2] [MQTT-4.7.0-1] [MQTT3-3.3.2-2] [MQTT3-4.7.1-1]`, async () => {
        const topic = unique('t');
        const subscriber = await door.connect();
        await subscriber.subscribe(`${topic}/#`);
        const client = await door.connect({ protocolVersion });
        client.raw.sendBytes(packet(PUBLISH_QOS_0, text(`${topic}/${wildcard}`), noProperties));
        await client.expectRefused(TopicNameInvalid, MalformedPacket, ProtocolError);
        await subscriber.expectNothing();
      });
    }
  }
});

describe('The answer to PUBLISH', () => {
  const door = useDoor();

  for (const protocolVersion of [5, 4] as const) {
    const name = protocolVersion === 5 ? 'MQTT 5.0' : 'MQTT 3.1.1';

    test(`QoS 0 gets no answer, ${name} [MQTT-3.3.4-1] [MQTT3-3.3.4-1]`, async () => {
      const client = await door.connect({ protocolVersion });
      client.sendPublish(unique('t'), 'x');
      await client.expectNothing();
    });

    test(`QoS 1 gets PUBACK with its packet identifier, ${name} [MQTT-3.3.4-1] [MQTT-2.2.1-5] [MQTT3-3.3.4-1] [MQTT3-2.3.1-6]`, async () => {
      const client = await door.connect({ protocolVersion });
      client.sendPublish(unique('t'), 'x', { qos: 1, messageId: 0x1234 });
      expect(await client.raw.expect('puback')).toMatchObject({ messageId: 0x1234 });
      await client.expectNothing();
    });

    test(`QoS 2 gets PUBREC with its packet identifier, ${name} [MQTT-3.3.4-1] [MQTT-2.2.1-5] [MQTT3-3.3.4-1] [MQTT3-2.3.1-6]`, async () => {
      const client = await door.connect({ protocolVersion });
      client.sendPublish(unique('t'), 'x', { qos: 2, messageId: 0xffff });
      expect(await client.raw.expect('pubrec')).toMatchObject({ messageId: 0xffff });
      await client.expectNothing();
    });
  }

  test('PUBACK says 0x10 without subscribers, 0x00 with one [MQTT-3.4.2-1]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    expect(await client.publish(topic, 'x', { qos: 1 })).toMatchObject({ reasonCode: 0x10 });
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    expect(await client.publish(topic, 'x', { qos: 1 })).toMatchObject({ reasonCode: 0x00 });
  });

  test('PUBREC says 0x10 without subscribers, 0x00 with one [MQTT-3.5.2-1]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    client.sendPublish(topic, 'x', { qos: 2, messageId: 1 });
    expect(await client.raw.expect('pubrec')).toMatchObject({ reasonCode: 0x10 });
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    client.sendPublish(topic, 'x', { qos: 2, messageId: 2 });
    expect(await client.raw.expect('pubrec')).toMatchObject({ reasonCode: 0x00 });
  });

  test('PUBACKs and PUBRECs come in the order of the messages they answer', async () => {
    const topic = unique('t');
    const client = await door.connect();
    const sent = Array.from({ length: 20 }, (_, index) =>
      client.sendPublish(topic, 'x', { qos: index % 2 ? 1 : 2 }),
    );
    const answered: unknown[] = [];
    for (const _ of sent) answered.push((await client.raw.next()).messageId);
    expect(answered).toEqual(sent);
  });
});

describe('PUBLISH to a client', () => {
  const door = useDoor();

  test('at QoS 0 it has DUP 0 and no packet identifier [MQTT-3.3.1-2] [MQTT-2.2.1-2] [MQTT-4.3.1-1] [MQTT3-3.3.1-2] [MQTT3-2.3.1-5] [MQTT3-4.3.1-1]', async () => {
    const topic = unique('t');
    for (const protocolVersion of [5, 4] as const) {
      const subscriber = await door.connect({ protocolVersion });
      await subscriber.subscribe(topic);
      const publisher = await door.connect();
      await publisher.publish(topic, 'payload');
      const { wire } = await subscriber.receive();
      const noProperties = protocolVersion === 5 ? NO_PROPERTIES : Buffer.alloc(0);
      expect(wire).toEqual(packet(PUBLISH_QOS_0, text(topic), noProperties, Buffer.from('payload')));
    }
  });

  test('the publisher’s DUP flag is not passed on [MQTT-3.3.1-3] [MQTT3-3.3.1-3]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 2 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'again', { qos: 1, dup: true });
    expect(await subscriber.receive()).toMatchObject({ payload: 'again', qos: 1, dup: false });
    await publisher.publish(topic, 'again', { qos: 2, dup: true });
    expect(await subscriber.receive()).toMatchObject({ payload: 'again', qos: 2, dup: false });
  });

  test('the topic name is the publisher’s, which the filter matches [MQTT-3.3.2-3] [MQTT3-3.3.2-3]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe([`${topic}/+/c`, `${topic}/x/#`]);
    const publisher = await door.connect();
    for (const name of ['a/c', 'b', 'x', 'x/y/z', 'B/c']) await publisher.publish(`${topic}/${name}`, name);
    for (const name of ['a/c', 'x', 'x/y/z', 'B/c']) {
      expect(await subscriber.receive()).toMatchObject({ topic: `${topic}/${name}`, payload: name });
    }
    await subscriber.expectNothing();
  });

  test('every subscribed client gets its copy, the publisher’s own subscription too [MQTT-4.5.0-1] [MQTT3-4.5.0-1]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    const clients = [publisher, await door.connect(), await door.connect311()];
    for (const client of clients) await client.subscribe(topic, { qos: 1 });
    await publisher.publish(topic, 'to all', { qos: 1 });
    for (const client of clients)
      expect(await client.receive()).toMatchObject({ topic, payload: 'to all', qos: 1 });
  });

  for (const qos of [0, 1, 2] as const) {
    test(`a payload is passed on byte by byte at QoS ${qos}, the empty and a large one too`, async () => {
      const topic = unique('t');
      const subscriber = await door.connect();
      await subscriber.subscribe(topic, { qos });
      const publisher = await door.connect();
      const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      for (const payload of [allBytes, Buffer.alloc(0), randomBytes(LARGE_BYTES)]) {
        await publisher.publish(topic, payload, { qos });
        expect((await subscriber.receive()).payloadBytes.equals(payload)).toBe(true);
      }
    });
  }

  test(
    'packets that come in pieces and packets that come together are read alike',
    onlyAt('node', 'a frame holds whole packets'),
    async () => {
      const topic = unique('t');
      const subscriber = await door.connect();
      await subscriber.subscribe(topic);
      const publisher = await door.connect();
      const one = packet(PUBLISH_QOS_0, text(topic), NO_PROPERTIES, Buffer.from('one'));
      const two = packet(PUBLISH_QOS_0, text(topic), NO_PROPERTIES, Buffer.from('two'));
      for (const byte of one) publisher.raw.sendBytes(Buffer.from([byte]));
      publisher.raw.sendBytes(Buffer.concat([two, one, two.subarray(0, 5)]));
      publisher.raw.sendBytes(two.subarray(5));
      const payloads = (await subscriber.receiveMany(4)).map(({ payload }) => payload);
      expect(payloads).toEqual(['one', 'two', 'one', 'two']);
    },
  );
});

describe('PUBLISH to a topic of the server', () => {
  const door = useDoor();

  test.each(['$SYS', '$SYS/x', '$occupancy', '$occupancy/room'])(
    'is refused with 0x87: %s',
    async (topic) => {
      const client = await door.connect();
      expect(await client.publish(topic, 'x', { qos: 1 })).toMatchObject({ reasonCode: 0x87 });
    },
  );
});

describe(withOptions('PUBLISH without permission'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ authorizer: allow({ publish: (topic) => !topic.startsWith('forbidden/') }) });

  test('MQTT 5.0 gets PUBACK 0x87 at QoS 1, stays connected, and no subscriber gets the message [MQTT-3.4.2-1]', async () => {
    const subscriber = await door.connect();
    await subscriber.subscribe('#');
    const publisher = await door.connect();
    expect(await publisher.publish('forbidden/x', 'x', { qos: 1 })).toMatchObject({
      reasonCode: NotAuthorized,
    });
    await subscriber.expectNothing();
    expect(await publisher.publish('allowed/x', 'x', { qos: 1 })).toMatchObject({ reasonCode: 0x00 });
    expect(await subscriber.receive()).toMatchObject({ topic: 'allowed/x' });
  });

  test('MQTT 5.0 gets PUBREC 0x87 at QoS 2, and the packet identifier is free again [MQTT-3.5.2-1] [MQTT-4.3.3-9]', async () => {
    const subscriber = await door.connect();
    await subscriber.subscribe('#');
    const publisher = await door.connect();
    const refused = await publisher.publish('forbidden/x', 'x', { qos: 2, messageId: 7 });
    expect(refused).toEqual({ cmd: 'pubrec', messageId: 7, reasonCode: NotAuthorized });
    const accepted = await publisher.publish('allowed/x', 'new', { qos: 2, messageId: 7 });
    expect(accepted).toMatchObject({ cmd: 'pubcomp', reasonCode: 0x00 });
    expect(await subscriber.receive()).toMatchObject({ topic: 'allowed/x', payload: 'new' });
    await subscriber.expectNothing();
  });

  test('at QoS 0 no subscriber gets the message', async () => {
    const subscriber = await door.connect();
    await subscriber.subscribe('#');
    const publisher = await door.connect();
    publisher.sendPublish('forbidden/x', 'x');
    const other = await door.connect();
    await other.publish('allowed/x', 'marker');
    expect(await subscriber.receive()).toMatchObject({ payload: 'marker' });
    await subscriber.expectNothing();
  });

  test(
    'a topic alias is resolved before permission is asked',
    onlyAt('node', 'the gateway door takes no alias'),
    async () => {
      const subscriber = await door.connect();
      await subscriber.subscribe('#');
      const publisher = await door.connect();
      const aliased = { qos: 1, properties: { topicAlias: 1 } } as const;
      expect(await publisher.publish('forbidden/x', 'x', aliased)).toMatchObject({
        reasonCode: NotAuthorized,
      });
      expect(await publisher.publish('', 'x', aliased)).toMatchObject({ reasonCode: NotAuthorized });
      await subscriber.expectNothing();
    },
  );

  test('a refused retained message is not kept [MQTT-3.4.2-1]', async () => {
    const publisher = await door.connect();
    const retained = { qos: 1, retain: true } as const;
    expect(await publisher.publish('forbidden/r', 'x', retained)).toMatchObject({
      reasonCode: NotAuthorized,
    });
    const subscriber = await door.connect();
    await subscriber.subscribe('forbidden/r');
    await subscriber.expectNothing();
  });

  test('MQTT 3.1.1 gets a normal acknowledgement, and no subscriber gets the message [MQTT3-3.3.5-2]', async () => {
    const subscriber = await door.connect();
    await subscriber.subscribe('#');
    const publisher = await door.connect311();
    publisher.sendPublish('forbidden/x', 'x', { qos: 1, messageId: 9 });
    const puback = await publisher.raw.expect('puback');
    expect(publisher.raw.bytesOf(puback)).toEqual(packet(0x40, u16(9)));
    expect(await publisher.publish('forbidden/x', 'x', { qos: 2 })).toMatchObject({ cmd: 'pubcomp' });
    await subscriber.expectNothing();
  });
});
