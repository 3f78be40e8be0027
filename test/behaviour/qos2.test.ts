import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import { allow } from './util/permissions.ts';
import { elapse } from './util/time.ts';

const { NotAuthorized, PacketIdentifierNotFound } = ReasonCode;

const door = useDoor();

const VERSIONS = [
  { name: 'MQTT 5.0', protocolVersion: 5 },
  { name: 'MQTT 3.1.1', protocolVersion: 4 },
] as const;

/** Connects to a session that outlives its connection, in either version. */
const resume = (clientId: string, protocolVersion: 4 | 5) =>
  protocolVersion === 5 ? door.resume(clientId) : door.resume311(clientId);

/** A topic and a client that is subscribed to it at QoS 2. */
async function subscribed() {
  const topic = unique('t');
  const subscriber = await door.connect();
  await subscriber.subscribe(topic, { qos: 2 });
  return { topic, subscriber };
}

describe('QoS 2 from a client', () => {
  for (const { name, protocolVersion } of VERSIONS) {
    test(`is answered with PUBREC, its PUBREL with PUBCOMP, all with its packet identifier, ${name} [MQTT-4.3.3-8] [MQTT-4.3.3-11] [MQTT-2.2.1-5] [MQTT-3.7.2-1] [MQTT3-4.3.3-2]`, async () => {
      const { topic, subscriber } = await subscribed();
      const publisher = await door.connect({ protocolVersion });
      publisher.sendPublish(topic, 'x', { qos: 2, messageId: 65535 });
      expect(await publisher.raw.expect('pubrec')).toMatchObject({ messageId: 65535 });
      publisher.raw.send({ cmd: 'pubrel', messageId: 65535 });
      const pubcomp = await publisher.raw.expect('pubcomp');
      expect(pubcomp).toMatchObject({ messageId: 65535 });
      expect(pubcomp.reasonCode ?? 0).toBe(0);
      expect(await subscriber.receive()).toMatchObject({ payload: 'x', qos: 2 });
      await subscriber.expectNothing();
    });

    for (const dup of [true, false]) {
      test(`sent twice before PUBREL (DUP ${Number(dup)}) gets PUBREC twice and is delivered once, ${name} [MQTT-4.3.3-10] [MQTT3-4.3.3-2]`, async () => {
        const { topic, subscriber } = await subscribed();
        const publisher = await door.connect({ protocolVersion });
        publisher.sendPublish(topic, 'once', { qos: 2, messageId: 9 });
        await publisher.take('pubrec', 9);
        await publisher.publish(topic, 'once', { qos: 2, messageId: 9, dup });
        expect(await subscriber.receive()).toMatchObject({ payload: 'once' });
        await subscriber.expectNothing();
      });
    }

    test(`with a packet identifier that PUBCOMP has freed is a new message, ${name} [MQTT-4.3.3-12] [MQTT3-4.3.3-2]`, async () => {
      const { topic, subscriber } = await subscribed();
      const publisher = await door.connect({ protocolVersion });
      await publisher.publish(topic, 'first', { qos: 2, messageId: 9 });
      await publisher.publish(topic, 'second', { qos: 2, messageId: 9, dup: true });
      expect(await subscriber.receive()).toMatchObject({ payload: 'first' });
      expect(await subscriber.receive()).toMatchObject({ payload: 'second' });
    });

    test(`sent again after the session came back is delivered once, ${name} [MQTT-4.3.3-10] [MQTT-4.4.0-1] [MQTT3-4.3.3-2] [MQTT3-4.4.0-1]`, async () => {
      const { topic, subscriber } = await subscribed();
      const clientId = unique('c');
      const before = await resume(clientId, protocolVersion);
      before.sendPublish(topic, 'once', { qos: 2, messageId: 4 });
      await before.take('pubrec', 4);
      await before.raw.vanish();
      const after = await resume(clientId, protocolVersion);
      await after.publish(topic, 'once', { qos: 2, messageId: 4, dup: true });
      expect(await subscriber.receive()).toMatchObject({ payload: 'once' });
      await subscriber.expectNothing();
    });

    test(`released after the session came back is complete, ${name} [MQTT-4.3.3-11] [MQTT-4.4.0-1] [MQTT3-4.4.0-1]`, async () => {
      const { topic, subscriber } = await subscribed();
      const clientId = unique('c');
      const before = await resume(clientId, protocolVersion);
      before.sendPublish(topic, 'once', { qos: 2, messageId: 4 });
      await before.take('pubrec', 4);
      await before.raw.vanish();
      const after = await resume(clientId, protocolVersion);
      after.raw.send({ cmd: 'pubrel', messageId: 4 });
      const pubcomp = await after.take('pubcomp', 4);
      expect(pubcomp.reasonCode ?? 0).toBe(0);
      expect(await subscriber.receive()).toMatchObject({ payload: 'once' });
      await subscriber.expectNothing();
    });
  }

  test('a PUBREL for an unknown packet identifier gets PUBCOMP 0x92 in MQTT 5.0 [MQTT-3.7.2-1] [MQTT-4.3.3-11]', async () => {
    const client = await door.connect();
    client.raw.send({ cmd: 'pubrel', messageId: 77 });
    expect(await client.raw.expect('pubcomp')).toMatchObject({
      messageId: 77,
      reasonCode: PacketIdentifierNotFound,
    });
  });

  test('a PUBREL that the client repeats after PUBCOMP was lost gets PUBCOMP 0x00: mqtt.js takes 0x92 for a message that was not published [MQTT-3.7.2-1] [MQTT-4.3.3-11]', async () => {
    const { topic, subscriber } = await subscribed();
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.publish(topic, 'once', { qos: 2, messageId: 4 });
    await before.raw.vanish();
    const after = await door.resume(clientId);
    after.raw.send({ cmd: 'pubrel', messageId: 4 });
    expect(await after.take('pubcomp', 4)).toMatchObject({ reasonCode: 0 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'once' });
    await subscriber.expectNothing();
  });

  test('a PUBREL for an unknown packet identifier gets PUBCOMP in MQTT 3.1.1 [MQTT3-4.3.3-2]', async () => {
    const client = await door.connect311();
    client.raw.send({ cmd: 'pubrel', messageId: 77 });
    expect(await client.raw.expect('pubcomp')).toMatchObject({ messageId: 77 });
  });

  test('several exchanges run at the same time, each by its packet identifier [MQTT-4.3.3-8] [MQTT-4.3.3-11]', async () => {
    const { topic, subscriber } = await subscribed();
    const publisher = await door.connect();
    const ids = [30, 10, 20];
    for (const messageId of ids) publisher.sendPublish(topic, `${messageId}`, { qos: 2, messageId });
    for (const messageId of ids) expect(await publisher.raw.expect('pubrec')).toMatchObject({ messageId });
    for (const messageId of ids) publisher.raw.send({ cmd: 'pubrel', messageId });
    for (const messageId of ids) expect(await publisher.raw.expect('pubcomp')).toMatchObject({ messageId });
    const payloads = (await subscriber.receiveMany(3)).map(({ payload }) => payload);
    expect(payloads).toEqual(['30', '10', '20']);
  });

  test('the exchange is finished even when the message has expired meanwhile [MQTT-4.3.3-13]', async () => {
    const publisher = await door.connect();
    publisher.sendPublish(unique('t'), 'x', {
      qos: 2,
      messageId: 6,
      properties: { messageExpiryInterval: 1 },
    });
    await publisher.take('pubrec', 6);
    await elapse(1.1);
    publisher.raw.send({ cmd: 'pubrel', messageId: 6 });
    expect(await publisher.raw.expect('pubcomp')).toMatchObject({ messageId: 6, reasonCode: 0 });
  });
});

describe('QoS 2 to a client', () => {
  for (const { name, protocolVersion } of VERSIONS) {
    /** A client whose session stays, with one unacknowledged message at QoS 2. */
    async function withMessage() {
      const topic = unique('t');
      const clientId = unique('c');
      const subscriber = await resume(clientId, protocolVersion);
      await subscriber.subscribe(topic, { qos: 2 });
      const publisher = await door.connect();
      await publisher.publish(topic, 'x', { qos: 2 });
      const message = await subscriber.receiveUnacknowledged();
      return { topic, clientId, subscriber, publisher, message };
    }

    test(`goes out with a packet identifier and DUP 0; PUBREC gets PUBREL [MQTT-4.3.3-1] [MQTT-4.3.3-2] [MQTT-4.3.3-4] [MQTT-2.2.1-4] [MQTT-3.6.2-1] [MQTT3-4.3.3-1], ${name}`, async () => {
      const { subscriber, message } = await withMessage();
      const { messageId } = message;
      expect(message).toMatchObject({ payload: 'x', qos: 2, dup: false });
      expect(messageId).toBeGreaterThan(0);
      subscriber.raw.send({ cmd: 'pubrec', messageId });
      const pubrel = await subscriber.raw.expect('pubrel');
      expect(pubrel).toMatchObject({ messageId });
      expect(pubrel.reasonCode ?? 0).toBe(0);
      subscriber.raw.send({ cmd: 'pubcomp', messageId });
      await subscriber.expectNothing();
    });

    test(`its packet identifier is in use until PUBCOMP, ${name} [MQTT-4.3.3-1] [MQTT-2.2.1-4] [MQTT3-4.3.3-1] [MQTT3-2.3.1-4]`, async () => {
      const { topic, subscriber, publisher, message } = await withMessage();
      subscriber.raw.send({ cmd: 'pubrec', messageId: message.messageId });
      await subscriber.take('pubrel');
      for (let round = 0; round < 5; round += 1) {
        await publisher.publish(topic, 'y', { qos: 2 });
        const other = await subscriber.receive();
        expect(other.messageId).not.toBe(message.messageId);
      }
    });

    test(`not answered with PUBREC, it is sent again with DUP when the session comes back, ${name} [MQTT-4.3.3-3] [MQTT-4.4.0-1] [MQTT-3.3.1-1] [MQTT3-4.3.3-1] [MQTT3-4.4.0-1]`, async () => {
      const { clientId, subscriber, message } = await withMessage();
      await subscriber.raw.vanish();
      const after = await resume(clientId, protocolVersion);
      const again = await after.receive();
      expect(again).toMatchObject({ payload: 'x', qos: 2, dup: true, messageId: message.messageId });
      await after.expectNothing();
    });

    test(`answered with PUBREC, its PUBREL is sent again, the message is not, ${name} [MQTT-4.3.3-5] [MQTT-4.3.3-6] [MQTT-4.4.0-1] [MQTT3-4.3.3-1] [MQTT3-4.4.0-1]`, async () => {
      const { clientId, subscriber, message } = await withMessage();
      const { messageId } = message;
      subscriber.raw.send({ cmd: 'pubrec', messageId });
      await subscriber.take('pubrel', messageId);
      await subscriber.raw.vanish();
      for (let round = 0; round < 2; round += 1) {
        const again = await resume(clientId, protocolVersion);
        expect(await again.raw.expect('pubrel')).toMatchObject({ messageId });
        await again.expectNothing();
        await again.disconnect();
      }
      const last = await resume(clientId, protocolVersion);
      expect(await last.raw.expect('pubrel')).toMatchObject({ messageId });
      last.raw.send({ cmd: 'pubcomp', messageId });
      await last.ping();
      await last.disconnect();
      await (await resume(clientId, protocolVersion)).expectNothing();
    });

    test(`complete, no packet of it is sent again, ${name} [MQTT-4.4.0-1] [MQTT3-4.4.0-1]`, async () => {
      const { clientId, subscriber, message } = await withMessage();
      await subscriber.acknowledge(message);
      await subscriber.ping();
      await subscriber.raw.vanish();
      await (await resume(clientId, protocolVersion)).expectNothing();
    });
  }

  test('several exchanges in different states come back in their order [MQTT-4.4.0-1] [MQTT-4.3.3-6]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId);
    await subscriber.subscribe(topic, { qos: 2 });
    const publisher = await door.connect();
    for (const payload of ['1', '2', '3', '4']) await publisher.publish(topic, payload, { qos: 2 });
    const messages = await subscriber.receiveMany(4);
    const ids = messages.map(({ messageId }) => messageId);
    for (const messageId of [ids[1], ids[2]]) {
      subscriber.raw.send({ cmd: 'pubrec', messageId });
      await subscriber.take('pubrel', messageId);
    }
    await subscriber.raw.vanish();
    const after = await door.resume(clientId);
    const published = await after.receiveMany(2);
    expect(published.map(({ payload, messageId }) => ({ payload, messageId }))).toEqual([
      { payload: '1', messageId: ids[0] },
      { payload: '4', messageId: ids[3] },
    ]);
    expect((await after.take('pubrel')).messageId).toBe(ids[1]);
    expect((await after.take('pubrel')).messageId).toBe(ids[2]);
    await after.expectNothing();
  });

  test('a PUBREC with an error ends the exchange: no PUBREL, nothing sent again [MQTT-4.3.3-4] [MQTT-4.4.0-2]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId);
    await subscriber.subscribe(topic, { qos: 2 });
    await (await door.connect()).publish(topic, 'refused', { qos: 2 });
    const { messageId } = await subscriber.receiveUnacknowledged();
    subscriber.raw.send({ cmd: 'pubrec', messageId, reasonCode: 0x83 });
    await subscriber.expectNothing();
    await subscriber.raw.vanish();
    await (await door.resume(clientId)).expectNothing();
  });

  test('a second PUBREC gets a second PUBREL [MQTT-4.3.3-4]', async () => {
    const { topic, subscriber } = await subscribed();
    await (await door.connect()).publish(topic, 'x', { qos: 2 });
    const { messageId } = await subscriber.receiveUnacknowledged();
    for (let round = 0; round < 2; round += 1) {
      subscriber.raw.send({ cmd: 'pubrec', messageId });
      expect(await subscriber.raw.expect('pubrel')).toMatchObject({ messageId, reasonCode: 0 });
    }
    subscriber.raw.send({ cmd: 'pubcomp', messageId });
    await subscriber.expectNothing();
  });

  test('a PUBREC for an unknown packet identifier gets PUBREL 0x92 [MQTT-3.6.2-1]', async () => {
    const client = await door.connect();
    client.raw.send({ cmd: 'pubrec', messageId: 77 });
    expect(await client.raw.expect('pubrel')).toMatchObject({
      messageId: 77,
      reasonCode: PacketIdentifierNotFound,
    });
  });

  test('a PUBREC that the client repeats after its session came back gets PUBREL 0x00 [MQTT-3.6.2-1]', async () => {
    const clientId = unique('c');
    await (await door.resume(clientId)).raw.vanish();
    const after = await door.resume(clientId);
    after.raw.send({ cmd: 'pubrec', messageId: 77 });
    expect(await after.take('pubrel', 77)).toMatchObject({ reasonCode: 0 });
  });

  test('a message that has been sent does not expire any more [MQTT-4.3.3-7]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId);
    await subscriber.subscribe(topic, { qos: 2 });
    await (await door.connect()).publish(topic, 'x', { qos: 2, properties: { messageExpiryInterval: 2 } });
    const { messageId } = await subscriber.receiveUnacknowledged();
    await subscriber.disconnect();
    await elapse(3.1);
    const after = await door.resume(clientId);
    const again = await after.receive();
    expect(again).toMatchObject({ payload: 'x', messageId, dup: true });
    expect(again.properties.messageExpiryInterval ?? 0).toBeLessThanOrEqual(2);
  });

  test('its exchange goes on although the message has expired [MQTT-4.3.3-13]', async () => {
    const { topic, subscriber } = await subscribed();
    await (await door.connect()).publish(topic, 'x', { qos: 2, properties: { messageExpiryInterval: 2 } });
    const { messageId } = await subscriber.receiveUnacknowledged();
    await elapse(2.1);
    subscriber.raw.send({ cmd: 'pubrec', messageId });
    expect(await subscriber.raw.expect('pubrel')).toMatchObject({ messageId, reasonCode: 0 });
  });
});

describe(withOptions('QoS 2 from a client whose permission ends'), NEEDS_OWN_DOOR, () => {
  const revoked = new Set<string>();
  const door = useDoor({ authorizer: allow({ publish: (topic) => !revoked.has(topic) }) });

  test('a message that was delivered before, and is sent again after the session came back, gets PUBREC 0x00; PUBREL frees its packet identifier [MQTT-4.3.3-10] [MQTT-4.3.3-12]', async () => {
    const [topic, other, clientId] = [unique('t'), unique('t'), unique('c')];
    const subscriber = await door.connect();
    await subscriber.subscribe('#', { qos: 2 });
    const before = await door.resume(clientId);
    before.sendPublish(topic, 'once', { qos: 2, messageId: 4 });
    await before.take('pubrec', 4);
    await before.raw.vanish();
    revoked.add(topic);
    const after = await door.resume(clientId);
    expect(await after.publish(topic, 'once', { qos: 2, messageId: 4 })).toMatchObject({
      cmd: 'pubcomp',
      reasonCode: 0,
    });
    expect(await after.publish(topic, 'refused', { qos: 2, messageId: 4 })).toMatchObject({
      cmd: 'pubrec',
      reasonCode: NotAuthorized,
    });
    await after.publish(other, 'another', { qos: 2, messageId: 4 });
    const payloads = (await subscriber.receiveMany(2)).map(({ payload }) => payload);
    expect(payloads).toEqual(['once', 'another']);
    await subscriber.expectNothing();
  });
});
