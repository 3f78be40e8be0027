import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import {
  bytes,
  NO_PROPERTIES,
  PropertyId,
  packet,
  properties,
  propertiesOf,
  text,
  u16,
  userPropertiesOf,
  userProperty,
} from './util/bytes.ts';
import { useDoor } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';
import { elapse } from './util/time.ts';

const { PayloadFormatInvalid } = ReasonCode;

const PUBLISH_QOS_0 = 0x30;
const PUBLISH_QOS_1 = 0x32;

const payloadFormat = (value: number) => bytes(PropertyId.payloadFormatIndicator, value);
const contentType = (value: string | Uint8Array) =>
  Buffer.concat([bytes(PropertyId.contentType), text(value)]);
const responseTopic = (value: string | Uint8Array) =>
  Buffer.concat([bytes(PropertyId.responseTopic), text(value)]);
const correlationData = (value: Uint8Array) =>
  Buffer.concat([bytes(PropertyId.correlationData), text(value)]);

describe('Properties of a PUBLISH are passed on', () => {
  const door = useDoor();

  /** A subscriber and a publisher of one topic. */
  async function pair() {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 2 });
    return { topic, subscriber, publisher: await door.connect() };
  }

  for (const payloadFormatIndicator of [false, true]) {
    test(`Payload Format Indicator ${Number(payloadFormatIndicator)} [MQTT-3.3.2-4]`, async () => {
      const { topic, subscriber, publisher } = await pair();
      await publisher.publish(topic, 'text', { properties: { payloadFormatIndicator } });
      expect((await subscriber.receive()).properties).toEqual({ payloadFormatIndicator });
    });
  }

  test('the Response Topic [MQTT-3.3.2-15]', async () => {
    const { topic, subscriber, publisher } = await pair();
    await publisher.publish(topic, 'x', { properties: { responseTopic: '/réponse/ à/$moi' } });
    expect((await subscriber.receive()).properties).toEqual({ responseTopic: '/réponse/ à/$moi' });
  });

  test('Correlation Data of any bytes, and of none [MQTT-3.3.2-16]', async () => {
    const { topic, subscriber, publisher } = await pair();
    for (const data of [Buffer.alloc(0), bytes(0, 255, 0xc0, 0xaf), Buffer.alloc(1000, 7)]) {
      await publisher.publish(topic, 'x', { properties: { correlationData: data } });
      const [property] = propertiesOf((await subscriber.receive()).wire);
      expect(property).toEqual({ id: PropertyId.correlationData, value: text(data) });
    }
  });

  test('the Content Type, an empty one too [MQTT-3.3.2-20]', async () => {
    const { topic, subscriber, publisher } = await pair();
    for (const contentType of ['application/json; charset=utf-8', '']) {
      await publisher.publish(topic, 'x', { properties: { contentType } });
      const [property] = propertiesOf((await subscriber.receive()).wire);
      expect(property).toEqual({ id: PropertyId.contentType, value: text(contentType) });
    }
  });

  const interleaved: [string, string][] = [
    ['b', '1'],
    ['a', '2'],
    ['b', '3'],
    ['', ''],
    ['a', '2'],
    ['ü€𝄞', '\ufeff'],
    ['b', '1'],
  ];

  for (const qos of [0, 1] as const) {
    test(`User Properties, all of them in their order, names interleaved and repeated, QoS ${qos} [MQTT-3.3.2-17] [MQTT-3.3.2-18]`, async () => {
      const { topic, subscriber, publisher } = await pair();
      const list = properties(...interleaved.map(([name, value]) => userProperty(name, value)));
      publisher.raw.sendBytes(
        qos === 0
          ? packet(PUBLISH_QOS_0, text(topic), list, Buffer.from('x'))
          : packet(PUBLISH_QOS_1, text(topic), u16(1), list, Buffer.from('x')),
      );
      const { wire, payload } = await subscriber.receive();
      expect(payload).toBe('x');
      expect(userPropertiesOf(wire)).toEqual(interleaved);
    });
  }

  test('the W3C trace of a message, as its publisher has written it [MQTT-3.3.2-17]', async () => {
    const { topic, subscriber, publisher } = await pair();
    const trace: [string, string][] = [
      ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
      ['tracestate', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
      ['Traceparent', 'none of ours'],
    ];
    const list = properties(...trace.map(([name, value]) => userProperty(name, value)));
    publisher.raw.sendBytes(packet(PUBLISH_QOS_1, text(topic), u16(1), list, Buffer.from('x')));
    const { wire } = await subscriber.receive();
    expect(userPropertiesOf(wire)).toEqual(trace);
  });

  /** Everything the publisher may send with a message. */
  const everything = [
    payloadFormat(1),
    contentType('text/plain'),
    responseTopic('reply/to'),
    correlationData(bytes(0, 1, 2)),
    ...interleaved.map(([name, value]) => userProperty(name, value)),
  ];

  const listed = (wire: Buffer) =>
    propertiesOf(wire)
      .map(({ id, value }) => Buffer.concat([bytes(id), value]).toString('hex'))
      .sort();

  const expected = everything.map((property) => property.toString('hex')).sort();

  async function publishEverything(publisher: TestClient, topic: string, flags = 0) {
    publisher.raw.sendBytes(
      packet(PUBLISH_QOS_1 | flags, text(topic), u16(1), properties(...everything), Buffer.from('payload')),
    );
    await publisher.take('puback', 1);
  }

  test('all of them together, to every subscriber [MQTT-3.3.2-4] [MQTT-3.3.2-15] [MQTT-3.3.2-16] [MQTT-3.3.2-17] [MQTT-3.3.2-20]', async () => {
    const { topic, subscriber, publisher } = await pair();
    const other = await door.connect();
    await other.subscribe(`${topic}/#`, { qos: 0 });
    await publishEverything(publisher, topic);
    for (const client of [subscriber, other]) expect(listed((await client.receive()).wire)).toEqual(expected);
  });

  test('all of them with a message that waited for an offline session [MQTT-3.3.2-17] [MQTT-3.3.2-18]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1 });
    await before.disconnect();
    await publishEverything(await door.connect(), topic);
    const { wire } = await (await door.resume(clientId)).receive();
    expect(listed(wire)).toEqual(expected);
    expect(userPropertiesOf(wire)).toEqual(interleaved);
  });

  test('all of them with a retained message [MQTT-3.3.2-17] [MQTT-3.3.2-18]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    await publishEverything(publisher, topic, 0x01);
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 1 });
    const { wire, retain } = await subscriber.receive();
    await publisher.publish(topic, '', { retain: true });
    expect(retain).toBe(true);
    expect(listed(wire)).toEqual(expected);
    expect(userPropertiesOf(wire)).toEqual(interleaved);
  });

  test('no properties where the publisher sent none: the list has length 0 [MQTT-2.2.2-1]', async () => {
    const { topic, subscriber, publisher } = await pair();
    await publisher.publish(topic, 'x', { qos: 1 });
    const { wire, messageId } = await subscriber.receive();
    expect(wire).toEqual(
      packet(PUBLISH_QOS_1, text(topic), u16(messageId ?? 0), NO_PROPERTIES, Buffer.from('x')),
    );
  });
});

describe('Properties of a PUBLISH are checked', () => {
  const door = useDoor();
  const notText = Buffer.from([0x61, 0xff]);

  test('a payload that claims to be UTF-8 and is not gets PUBACK 0x99, and no subscriber gets it [MQTT-3.4.2-1]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const publisher = await door.connect();
    const claim = { properties: { payloadFormatIndicator: true } };
    expect(await publisher.publish(topic, notText, { ...claim, qos: 1 })).toMatchObject({
      reasonCode: PayloadFormatInvalid,
    });
    await subscriber.expectNothing();
    await publisher.publish(topic, notText, { properties: { payloadFormatIndicator: false } });
    expect((await subscriber.receive()).payloadBytes).toEqual(notText);
  });

  test('the same at QoS 2 gets PUBREC 0x99, and its packet identifier is free again [MQTT-3.5.2-1] [MQTT-4.3.3-9]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const publisher = await door.connect();
    const claim = { qos: 2, messageId: 3, properties: { payloadFormatIndicator: true } } as const;
    expect(await publisher.publish(topic, notText, claim)).toMatchObject({
      cmd: 'pubrec',
      reasonCode: PayloadFormatInvalid,
    });
    expect(await publisher.publish(topic, 'text', claim)).toMatchObject({ cmd: 'pubcomp', reasonCode: 0 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'text' });
    await subscriber.expectNothing();
  });

  test('the same at QoS 0 reaches no subscriber', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const publisher = await door.connect();
    publisher.sendPublish(topic, notText, { properties: { payloadFormatIndicator: true } });
    const other = await door.connect();
    await other.publish(topic, 'marker');
    expect(await subscriber.receive()).toMatchObject({ payload: 'marker' });
  });
});

describe('Message Expiry Interval', () => {
  const door = useDoor();
  const expiringIn = (messageExpiryInterval: number) =>
    ({ qos: 1, properties: { messageExpiryInterval } }) as const;

  /** An offline session that subscribes to the topic at QoS 1. */
  async function offlineSession(topic: string): Promise<string> {
    const clientId = unique('c');
    const client = await door.resume(clientId);
    await client.subscribe(topic, { qos: 1 });
    await client.disconnect();
    return clientId;
  }

  test('it is passed on with a message that does not wait [MQTT-3.3.2-6]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    await (await door.connect()).publish(topic, 'x', expiringIn(100));
    const { messageExpiryInterval } = (await subscriber.receive()).properties;
    expect(messageExpiryInterval).toBeGreaterThan(90);
    expect(messageExpiryInterval).toBeLessThanOrEqual(100);
  });

  test('it is reduced by the time that a message waited for an offline session [MQTT-3.3.2-6]', async () => {
    const topic = unique('t');
    const clientId = await offlineSession(topic);
    await (await door.connect()).publish(topic, 'x', expiringIn(100));
    await elapse(1.1);
    const { messageExpiryInterval } = (await (await door.resume(clientId)).receive()).properties;
    expect(messageExpiryInterval).toBeLessThan(100);
    expect(messageExpiryInterval).toBeGreaterThan(90);
  });

  test('it is reduced by the time that a retained message waited [MQTT-3.3.2-6]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    await publisher.publish(topic, 'x', { ...expiringIn(100), retain: true });
    await elapse(1.1);
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const { messageExpiryInterval } = (await subscriber.receive()).properties;
    await publisher.publish(topic, '', { retain: true });
    expect(messageExpiryInterval).toBeLessThan(100);
    expect(messageExpiryInterval).toBeGreaterThan(90);
  });

  test('an expired message is not sent to a session that comes back, the others are [MQTT-3.3.2-5]', async () => {
    const topic = unique('t');
    const clientId = await offlineSession(topic);
    const publisher = await door.connect();
    await publisher.publish(topic, 'before', { qos: 1 });
    await publisher.publish(topic, 'short', expiringIn(1));
    await publisher.publish(topic, 'long', expiringIn(100));
    await elapse(2.1);
    const subscriber = await door.resume(clientId);
    const payloads = (await subscriber.receiveMany(2)).map(({ payload }) => payload);
    expect(payloads).toEqual(['before', 'long']);
    await subscriber.expectNothing();
  });

  test('an expired message that waited for the Receive Maximum is not sent [MQTT-3.3.2-5]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect({ properties: { receiveMaximum: 1 } });
    await subscriber.subscribe(topic, { qos: 1 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'first', { qos: 1 });
    await publisher.publish(topic, 'short', expiringIn(1));
    await publisher.publish(topic, 'last', { qos: 1 });
    const first = await subscriber.receiveUnacknowledged();
    await elapse(2.1);
    await subscriber.acknowledge(first);
    expect(await subscriber.receive()).toMatchObject({ payload: 'last' });
    await subscriber.expectNothing();
  });

  test('an expired retained message is not sent to a new subscriber [MQTT-3.3.2-5]', async () => {
    const topic = unique('t');
    await (await door.connect()).publish(topic, 'x', { ...expiringIn(1), retain: true });
    await elapse(2.1);
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    await subscriber.expectNothing();
  });
});
