import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, packet, u16 } from './util/bytes.ts';
import { useDoor } from './util/door-fixture.ts';

const { NoSubscriptionExisted, Success } = ReasonCode;

const door = useDoor();

const VERSIONS = [
  { name: 'MQTT 5.0', protocolVersion: 5, noProperties: NO_PROPERTIES },
  { name: 'MQTT 3.1.1', protocolVersion: 4, noProperties: Buffer.alloc(0) },
] as const;

describe('UNSUBSCRIBE is answered', () => {
  for (const { name, protocolVersion } of VERSIONS) {
    test(`with UNSUBACK and its packet identifier, even when there was nothing to delete, ${name} [MQTT-3.10.4-4] [MQTT-3.10.4-5] [MQTT-2.2.1-6] [MQTT3-3.10.4-4] [MQTT3-3.10.4-5] [MQTT3-2.3.1-7]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe(topic);
      for (const messageId of [0xfedc, 3]) {
        client.raw.send({ cmd: 'unsubscribe', messageId, unsubscriptions: [topic] });
        expect(await client.raw.expect('unsuback')).toMatchObject({ messageId });
      }
      await client.expectNothing();
    });
  }

  test('with a code for each filter in their order: 0x00 deleted, 0x11 not there [MQTT-3.10.4-6] [MQTT-3.11.3-1] [MQTT-3.11.3-2]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe([`${topic}/a`, `${topic}/b`, `${topic}/+`]);
    const codes = await client.unsubscribe(`${topic}/b`, `${topic}/x`, `${topic}/+`, `${topic}/b`);
    expect(codes).toEqual([Success, NoSubscriptionExisted, Success, NoSubscriptionExisted]);
    await client.expectNothing();
  });

  test('with one UNSUBACK of two bytes in MQTT 3.1.1, however many filters there were [MQTT3-3.10.4-6] [MQTT3-3.10.4-4]', async () => {
    const topic = unique('t');
    const client = await door.connect311();
    await client.subscribe([`${topic}/a`, `${topic}/b`]);
    client.raw.send({ cmd: 'unsubscribe', messageId: 5, unsubscriptions: [`${topic}/a`, `${topic}/b`] });
    const unsuback = await client.raw.expect('unsuback');
    expect(client.raw.bytesOf(unsuback)).toEqual(packet(0xb0, u16(5)));
    await (await door.connect()).publish(`${topic}/a`, 'x');
    await client.expectNothing();
  });

  test('within the client’s Maximum Packet Size [MQTT-3.11.2-1] [MQTT-3.11.2-2] [MQTT-3.1.2-24]', async () => {
    const client = await door.connect({ properties: { maximumPacketSize: 40 } });
    const filters = Array.from({ length: 10 }, (_, index) => `nothing/${index}`);
    client.raw.send({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: filters });
    const unsuback = await client.raw.expect('unsuback');
    expect(client.raw.bytesOf(unsuback).length).toBeLessThanOrEqual(40);
    expect(unsuback.granted).toEqual(filters.map(() => NoSubscriptionExisted));
  });
});

describe('UNSUBSCRIBE', () => {
  for (const { name, protocolVersion } of VERSIONS) {
    test(`stops the delivery for its filters, not for others, ${name} [MQTT-3.10.4-1] [MQTT-3.10.4-2] [MQTT-3.10.4-6] [MQTT3-3.10.4-1] [MQTT3-3.10.4-2] [MQTT3-3.10.4-6]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe(['a', 'b', 'c'].map((level) => `${topic}/${level}`));
      await client.unsubscribe(`${topic}/a`, `${topic}/c`);
      const publisher = await door.connect();
      for (const level of ['a', 'c', 'b']) await publisher.publish(`${topic}/${level}`, level);
      expect(await client.receive()).toMatchObject({ payload: 'b' });
      await client.expectNothing();
    });

    test(`compares filters character by character: one that merely matches is kept, ${name} [MQTT-3.10.4-1] [MQTT3-3.10.4-1]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe([`${topic}/+`]);
      const others = [
        `${topic}/a`,
        `${topic}/#`,
        `${topic}/+/`,
        `${topic.toUpperCase()}/+`,
        `/${topic}/+`,
        '#',
      ];
      await client.unsubscribe(...others);
      await (await door.connect()).publish(`${topic}/a`, 'x');
      expect(await client.receive()).toMatchObject({ payload: 'x' });
    });

    test(`completes deliveries in flight at QoS 1 and 2, ${name} [MQTT-3.10.4-3] [MQTT3-3.10.4-3]`, async () => {
      const topic = unique('t');
      const client = await door.connect({ protocolVersion });
      await client.subscribe(topic, { qos: 2 });
      const publisher = await door.connect();
      await publisher.publish(topic, 'one', { qos: 1 });
      await publisher.publish(topic, 'two', { qos: 2 });
      const [one, two] = await client.receiveMany(2);
      if (one === undefined || two === undefined) throw new Error('two messages were received');
      await client.unsubscribe(topic);
      await client.acknowledge(one);
      client.raw.send({ cmd: 'pubrec', messageId: two.messageId });
      expect(await client.raw.expect('pubrel')).toMatchObject({ messageId: two.messageId });
      client.raw.send({ cmd: 'pubcomp', messageId: two.messageId });
      await client.expectNothing();
    });
  }

  test('completes deliveries in flight also after the session has come back [MQTT-3.10.4-3] [MQTT-4.4.0-1]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 2 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'one', { qos: 1 });
    await publisher.publish(topic, 'two', { qos: 2 });
    const [, two] = await before.receiveMany(2);
    before.raw.send({ cmd: 'pubrec', messageId: two?.messageId });
    await before.take('pubrel');
    await before.unsubscribe(topic);
    await before.raw.vanish();
    const after = await door.resume(clientId);
    expect(await after.receive()).toMatchObject({ payload: 'one', qos: 1, dup: true });
    expect(await after.take('pubrel')).toMatchObject({ messageId: two?.messageId });
    await after.expectNothing();
  });

  test('lasts: the session comes back without the subscription [MQTT-3.10.4-1] [MQTT-3.10.4-2]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1 });
    await before.unsubscribe(topic);
    await before.disconnect();
    await (await door.connect()).publish(topic, 'x', { qos: 1 });
    const after = await door.resume(clientId);
    await (await door.connect()).publish(topic, 'y', { qos: 1 });
    await after.expectNothing();
  });

  test('from one of two overlapping filters leaves the other with its QoS and identifier [MQTT-3.10.4-1]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(`${topic}/#`, { qos: 2, identifier: 1 });
    await client.subscribe(`${topic}/a`, { qos: 1, identifier: 2 });
    await client.unsubscribe(`${topic}/#`);
    await (await door.connect()).publish(`${topic}/a`, 'x', { qos: 2 });
    const message = await client.receive();
    expect(message).toMatchObject({ payload: 'x', qos: 1 });
    expect(message.properties).toEqual({ subscriptionIdentifier: 2 });
    await client.expectNothing();
  });

  test('of one client leaves the same filter of another client alone [MQTT-3.10.4-1]', async () => {
    const topic = unique('t');
    const [one, two] = [await door.connect(), await door.connect()];
    for (const client of [one, two]) await client.subscribe(topic);
    await one.unsubscribe(topic);
    await (await door.connect()).publish(topic, 'x');
    expect(await two.receive()).toMatchObject({ payload: 'x' });
    await one.expectNothing();
  });
});
