import { ReasonCode } from '@apus/mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient, type Received } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, packet, text, u16, userProperty } from './util/bytes.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

const { MalformedPacket, NoSubscriptionExisted, PacketTooLarge, ProtocolError } = ReasonCode;

describe('The client’s Maximum Packet Size', () => {
  const door = useDoor();
  const maximumPacketSize = 100;
  const limited = { properties: { maximumPacketSize } };

  /** A payload which makes the PUBLISH of this topic, with a packet identifier, exactly so many bytes long. */
  function payloadFor(topic: string, packetSize: number): string {
    const empty = packet(0x32, text(topic), u16(1), NO_PROPERTIES);
    return 'x'.repeat(packetSize - empty.length);
  }

  async function subscribed(
    qos: 0 | 1 | 2,
  ): Promise<{ topic: string; subscriber: TestClient; publisher: TestClient }> {
    const topic = unique('t');
    const subscriber = await door.connect(limited);
    await subscriber.subscribe(topic, { qos });
    return { topic, subscriber, publisher: await door.connect() };
  }

  test('may be filled to the last byte [MQTT-3.1.2-24]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publisher.publish(topic, payloadFor(topic, maximumPacketSize), { qos: 1 });
    expect((await subscriber.receive()).wire).toHaveLength(maximumPacketSize);
  });

  for (const qos of [0, 1, 2] as const) {
    test(`a message that is too large at QoS ${qos} is not sent, and the next one is [MQTT-3.1.2-24] [MQTT-3.1.2-25]`, async () => {
      const { topic, subscriber, publisher } = await subscribed(qos);
      const tooLarge = `${payloadFor(topic, maximumPacketSize)}xxx`;
      expect((await publisher.publish(topic, tooLarge, { qos }))?.reasonCode ?? 0).toBeLessThan(0x80);
      await publisher.publish(topic, 'small', { qos });
      expect(await subscriber.receive()).toMatchObject({ payload: 'small' });
      await subscriber.expectNothing();
    });
  }

  test('counts as delivered: it uses up none of the Receive Maximum [MQTT-3.1.2-25]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect({ properties: { maximumPacketSize, receiveMaximum: 1 } });
    await subscriber.subscribe(topic, { qos: 2 });
    const publisher = await door.connect();
    for (let index = 0; index < 3; index += 1) {
      await publisher.publish(topic, 'x'.repeat(200), { qos: 1 });
      await publisher.publish(topic, 'x'.repeat(200), { qos: 2 });
    }
    await publisher.publish(topic, 'small', { qos: 1 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'small' });
  });

  test('applies to one client: others get the message [MQTT-3.1.2-24]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    const others = [await door.connect(), await door.connect311()];
    for (const other of others) await other.subscribe(topic, { qos: 1 });
    await publisher.publish(topic, 'x'.repeat(200), { qos: 1 });
    for (const other of others) expect((await other.receive()).payload).toHaveLength(200);
    await subscriber.expectNothing();
  });

  test('counts properties too [MQTT-3.1.2-24] [MQTT-3.3.2-17]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    const userProperties = { name: 'v'.repeat(maximumPacketSize) };
    expect(userProperty('name', userProperties.name).length).toBeGreaterThan(maximumPacketSize);
    await publisher.publish(topic, 'x', { qos: 1, properties: { userProperties } });
    await publisher.publish(topic, 'without', { qos: 1 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'without' });
  });

  test('applies to retained messages [MQTT-3.1.2-24] [MQTT-3.1.2-25]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    await publisher.publish(`${topic}/large`, 'x'.repeat(200), { qos: 1, retain: true });
    await publisher.publish(`${topic}/small`, 'x', { qos: 1, retain: true });
    const subscriber = await door.connect(limited);
    await subscriber.subscribe(`${topic}/#`, { qos: 1 });
    expect(await subscriber.receive()).toMatchObject({ topic: `${topic}/small` });
    await subscriber.expectNothing();
    for (const name of ['large', 'small']) await publisher.publish(`${topic}/${name}`, '', { retain: true });
  });

  test('applies to the waiting messages of a session, and to those that are sent again [MQTT-3.1.2-24] [MQTT-3.1.2-25]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'x'.repeat(200), { qos: 1 });
    await publisher.publish(topic, 'sent before', { qos: 1 });
    await before.receiveMany(2);
    await before.disconnect();
    await publisher.publish(topic, 'y'.repeat(200), { qos: 1 });
    await publisher.publish(topic, 'waited', { qos: 1 });
    const after = await door.resume(clientId, limited);
    const payloads = (await after.receiveMany(2)).map(({ payload }) => payload);
    expect(payloads).toEqual(['sent before', 'waited']);
    await after.expectNothing();
  });

  test('drops Reason String and User Properties of acknowledgements where they do not fit [MQTT-3.4.2-2] [MQTT-3.4.2-3] [MQTT-3.5.2-2] [MQTT-3.5.2-3] [MQTT-3.6.2-2] [MQTT-3.6.2-3] [MQTT-3.7.2-2] [MQTT-3.7.2-3]', async () => {
    const small = 40;
    const client = await door.connect({ properties: { maximumPacketSize: small } });
    const notText = Buffer.from([0xff]);
    const claim = { payloadFormatIndicator: true };
    client.sendPublish('t', notText, { qos: 1, messageId: 1, properties: claim });
    client.sendPublish('t', notText, { qos: 2, messageId: 2, properties: claim });
    client.raw.send({ cmd: 'pubrec', messageId: 3 });
    client.raw.send({ cmd: 'pubrel', messageId: 4 });
    for (const [cmd, messageId] of [
      ['puback', 1],
      ['pubrec', 2],
      ['pubrel', 3],
      ['pubcomp', 4],
    ] as const) {
      const answer = await client.raw.expect(cmd);
      expect(answer).toMatchObject({ messageId });
      expect(client.raw.bytesOf(answer).length).toBeLessThanOrEqual(small);
    }
  });
});

describe('An answer that is larger than the client’s Maximum Packet Size', () => {
  const door = useDoor({ responseInformation: 'answers' });

  /** The packets that a client with this Maximum Packet Size gets after its CONNECT, until the close or PINGRESP. */
  async function answersTo(clientId: string, properties: Readonly<Record<string, unknown>>) {
    const client = await RawClient.open(door.url);
    onTestFinished(() => client.close());
    client.send({
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clean: false, clientId, keepalive: 0 },
      properties: { sessionExpiryInterval: 60, ...properties },
    });
    const answers: Received[] = [];
    const next = () => client.next().catch(() => undefined);
    for (let packet = await next(); packet !== undefined; packet = await next()) {
      if (packet.cmd === 'pingresp') break;
      answers.push(packet);
      if (packet.cmd === 'connack' && packet.reasonCode === 0) client.send({ cmd: 'pingreq' });
    }
    return { client, answers, sizes: answers.map((packet) => client.bytesOf(packet).length) };
  }

  test('CONNACK comes first, or 0x95 in its place, or the close alone: no size from 1 up gets another packet, and the session stays as it was [MQTT-3.2.0-1] [MQTT-3.1.2-24] [MQTT-3.2.2-19] [MQTT-3.2.2-20]', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1 });
    await before.raw.vanish();
    await (await door.connect()).publish(topic, 'x'.repeat(50), { qos: 1 });
    const codes: unknown[] = [];
    for (let maximumPacketSize = 1; maximumPacketSize <= 40; maximumPacketSize += 1) {
      const { client, answers, sizes } = await answersTo(clientId, { maximumPacketSize });
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maximumPacketSize);
      expect(answers.map(({ cmd }) => cmd)).toEqual(maximumPacketSize < 5 ? [] : ['connack']);
      const [connack] = answers;
      codes.push(connack?.reasonCode);
      if (connack?.reasonCode !== 0) {
        await client.expectClose();
        continue;
      }
      // The message was too large: it counts as sent [MQTT-3.1.2-25].
      expect(connack.sessionPresent).toBe(true);
      await (await door.resume(clientId)).expectNothing();
      break;
    }
    const firstAccepted = codes.indexOf(0);
    expect(firstAccepted).toBeGreaterThan(9);
    expect(codes.slice(0, firstAccepted)).toEqual(
      codes.slice(0, firstAccepted).map((_, index) => (index < 4 ? undefined : PacketTooLarge)),
    );
  });

  test('a refused CONNECT takes nothing over, and changes no session [MQTT-3.2.2-7]', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const owner = await door.resume(clientId);
    await owner.subscribe(topic, { qos: 1 });
    const { answers } = await answersTo(clientId, { maximumPacketSize: 8 });
    expect(answers).toMatchObject([{ cmd: 'connack', reasonCode: PacketTooLarge }]);
    await (await door.connect()).publish(topic, 'x', { qos: 1 });
    expect(await owner.receive()).toMatchObject({ payload: 'x' });
  });

  test('CONNACK leaves out its Response Information [MQTT-3.1.2-24] [MQTT-3.1.2-28]', async () => {
    const asked = { requestResponseInformation: true };
    const whole = await answersTo(unique('c'), asked);
    expect(whole.answers[0]?.properties).toMatchObject({ responseInformation: 'answers' });
    const [size = 0] = whole.sizes;
    const short = await answersTo(unique('c'), { ...asked, maximumPacketSize: size - 1 });
    expect(short.answers).toMatchObject([{ cmd: 'connack', reasonCode: 0 }]);
    expect(short.answers[0]?.properties).not.toHaveProperty('responseInformation');
  });

  for (const [count, maximumPacketSize] of [
    [60, 60],
    [1_100, 1_090],
  ] as const)
    test(`SUBACK and UNSUBACK with ${count} reason codes: DISCONNECT 0x95, and no subscription is made or ended [MQTT-3.1.2-24] [MQTT-4.13.2-1]`, async () => {
      const clientId = unique('c');
      const limited = { properties: { sessionExpiryInterval: 60, maximumPacketSize } };
      const filters = Array.from({ length: count }, (_, index) => `${clientId}/${index}`);
      const one = await door.resume(clientId);
      await one.subscribe(filters[0] ?? '');
      await one.disconnect();
      for (const packet of [
        { cmd: 'subscribe', subscriptions: filters.slice(1).map((topic) => ({ topic, qos: 0 })) },
        { cmd: 'unsubscribe', unsubscriptions: filters },
      ]) {
        const client = await door.connect({ clientId, clean: false, ...limited });
        client.raw.send({ messageId: 1, ...packet });
        await client.expectRefused(PacketTooLarge);
      }
      const after = await door.resume(clientId);
      expect(await after.unsubscribe(filters[0] ?? '', filters[1] ?? '')).toEqual([0, NoSubscriptionExisted]);
    });
});

describe(
  withOptions('A message of a stream that is larger than the client’s Maximum Packet Size'),
  NEEDS_OWN_DOOR,
  () => {
    const door = useDoor({ streams: [{ name: 's', topicFilter: 's/#' }] });

    test('is not sent, live or as history, and does not end the connection [MQTT-3.1.2-24] [MQTT-3.1.2-25]', async () => {
      const topic = `s/${unique('t')}`;
      const publisher = await door.connect();
      const reader = await door.connect({ properties: { maximumPacketSize: 300 } });
      const send = async (payload: string) => void (await publisher.publish(topic, payload, { qos: 1 }));
      await send('y'.repeat(400));
      await send('past');
      reader.raw.send({
        cmd: 'subscribe',
        messageId: 1,
        subscriptions: [{ topic, qos: 0 }],
        properties: { userProperties: { rewind: '10' } },
      });
      await reader.take('suback', 1);
      await send('x'.repeat(400));
      await send('live');
      const payloads = (await reader.receiveMany(2)).map(({ payload }) => payload);
      expect(payloads).toEqual(['past', 'live']);
      await reader.expectNothing();
    });
  },
);

describe('Acknowledgements to a client that declined problem information', () => {
  const door = useDoor();

  test('have no Reason String and no User Properties [MQTT-3.1.2-29]', async () => {
    const client = await door.connect({ properties: { requestProblemInformation: false } });
    client.sendPublish(unique('t'), 'x', { qos: 1, messageId: 1 });
    client.sendPublish(unique('t'), 'x', { qos: 2, messageId: 2 });
    client.raw.send({ cmd: 'pubrec', messageId: 3 });
    client.raw.send({ cmd: 'pubrel', messageId: 4 });
    for (const cmd of ['puback', 'pubrec', 'pubrel', 'pubcomp']) {
      expect((await client.raw.expect(cmd)).properties).toBeUndefined();
    }
  });
});

describe(withOptions('The broker’s Maximum Packet Size'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ maximumPacketSize: 200 });

  /** A PUBLISH at QoS 0 of exactly so many bytes. */
  function publishOf(size: number): Buffer {
    const overhead = size > 129 ? 3 : 2;
    return packet(0x30, text('t'), NO_PROPERTIES, Buffer.alloc(size - overhead - 4, 'x'));
  }

  test('is stated in CONNACK, and a packet of that size is taken [MQTT-3.2.2-15]', async () => {
    const client = await door.connect();
    expect(client.connack.properties).toMatchObject({ maximumPacketSize: 200 });
    await client.subscribe('t');
    client.raw.sendBytes(publishOf(200));
    expect((await client.receive()).wire).toHaveLength(200);
  });

  test('is exceeded by a byte: DISCONNECT 0x95 [MQTT-3.2.2-15]', async () => {
    const client = await door.connect();
    client.raw.sendBytes(publishOf(201));
    await client.expectRefused(PacketTooLarge);
  });

  test('closes the connection as soon as the length is known [MQTT-3.2.2-15]', async () => {
    const client = await door.connect();
    client.raw.sendBytes(publishOf(100_000).subarray(0, 10));
    await client.expectRefused(PacketTooLarge, MalformedPacket, ProtocolError);
  });

  test('closes the connection of a client with MQTT 3.1.1', async () => {
    const client = await door.connect311();
    client.raw.sendBytes(packet(0x30, text('t'), Buffer.alloc(300, 'x')));
    await client.expectRefused();
  });
});
