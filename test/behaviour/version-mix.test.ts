import { describe, expect, test } from 'vitest';
import { differsAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, packet, text, u16 } from './util/bytes.ts';
import { useDoor } from './util/door-fixture.ts';
import { elapse } from './util/time.ts';

const door = useDoor();

const ALL_PROPERTIES = {
  payloadFormatIndicator: true,
  messageExpiryInterval: 100,
  contentType: 'text/plain',
  responseTopic: 'reply',
  correlationData: Buffer.from([1, 2]),
  userProperties: { name: 'value' },
  ...(!differsAt('gateway', 'it takes no alias') && { topicAlias: 1 }),
};

/** MQTT 3.1 and 3.1.1. */
const OLDER = [
  { name: 'MQTT 3.1.1', protocolVersion: 4 },
  { name: 'MQTT 3.1', protocolVersion: 3 },
] as const;

describe('Clients with different versions of MQTT', () => {
  for (const { name, protocolVersion } of OLDER) {
    for (const qos of [0, 1, 2] as const) {
      test(`MQTT 5.0 to ${name} at QoS ${qos}: the message without its properties [MQTT3-3.3.2-1]`, async () => {
        const topic = unique('t');
        const subscriber = await door.connect({ protocolVersion });
        await subscriber.subscribe(topic, { qos });
        await (await door.connect()).publish(topic, 'text', { qos, properties: ALL_PROPERTIES });
        const { wire, messageId } = await subscriber.receive();
        const packetId = qos === 0 ? Buffer.alloc(0) : u16(messageId ?? 0);
        expect(wire).toEqual(packet(0x30 | (qos << 1), text(topic), packetId, Buffer.from('text')));
      });

      test(`${name} to MQTT 5.0 at QoS ${qos}: the message with an empty property list [MQTT-2.2.2-1]`, async () => {
        const topic = unique('t');
        const subscriber = await door.connect();
        await subscriber.subscribe(topic, { qos });
        await (await door.connect({ protocolVersion })).publish(topic, 'text', { qos });
        const { wire, messageId } = await subscriber.receive();
        const packetId = qos === 0 ? Buffer.alloc(0) : u16(messageId ?? 0);
        expect(wire).toEqual(
          packet(0x30 | (qos << 1), text(topic), packetId, NO_PROPERTIES, Buffer.from('text')),
        );
      });
    }

    test(`a will of ${name} reaches MQTT 5.0, and the other way round`, async () => {
      const topic = unique('t');
      const will = { topic, payload: Buffer.from('gone'), qos: 1, retain: false };
      for (const [willVersion, watcherVersion] of [
        [protocolVersion, 5],
        [5, protocolVersion],
      ]) {
        const watcher = await door.connect({ protocolVersion: watcherVersion });
        await watcher.subscribe(topic, { qos: 1 });
        const client = await door.connect({ protocolVersion: willVersion, will });
        await client.raw.vanish();
        expect(await watcher.receive()).toMatchObject({ topic, payload: 'gone', qos: 1 });
      }
    });
  }

  test('acknowledgements to MQTT 3.1.1 are a packet identifier and nothing else, also where 5.0 has a reason [MQTT3-2.3.1-6]', async () => {
    const topic = unique('nobody');
    const client = await door.connect311();
    client.sendPublish(topic, 'x', { qos: 1, messageId: 0x0102 });
    client.sendPublish(topic, 'x', { qos: 2, messageId: 0x0304 });
    client.raw.send({ cmd: 'pubrel', messageId: 0x0506 });
    client.raw.send({ cmd: 'pubrec', messageId: 0x0708 });
    for (const [cmd, firstByte, packetId] of [
      ['puback', 0x40, 0x0102],
      ['pubrec', 0x50, 0x0304],
      ['pubcomp', 0x70, 0x0506],
      ['pubrel', 0x62, 0x0708],
    ] as const) {
      const answer = await client.raw.expect(cmd);
      expect(client.raw.bytesOf(answer)).toEqual(packet(firstByte, u16(packetId)));
    }
  });

  test('a retained message of MQTT 5.0 with all its properties comes plain to MQTT 3.1.1 [MQTT3-3.3.1-6] [MQTT3-3.3.1-8]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    await publisher.publish(topic, 'kept', { qos: 1, retain: true, properties: ALL_PROPERTIES });
    const subscriber = await door.connect311();
    await subscriber.subscribe(topic);
    const { wire } = await subscriber.receive();
    await publisher.publish(topic, '', { retain: true });
    expect(wire).toEqual(packet(0x31, text(topic), Buffer.from('kept')));
  });

  test('a message that expired does not come to a session of MQTT 3.1.1 either [MQTT-3.3.2-5]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume311(clientId);
    await before.subscribe(topic, { qos: 1 });
    await before.disconnect();
    const publisher = await door.connect();
    await publisher.publish(topic, 'short', { qos: 1, properties: { messageExpiryInterval: 1 } });
    await publisher.publish(topic, 'long', { qos: 1, properties: { messageExpiryInterval: 100 } });
    await elapse(2.1);
    const after = await door.resume311(clientId);
    expect(await after.receive()).toMatchObject({ payload: 'long' });
    await after.expectNothing();
  });

  test('one message to subscribers of three versions, each with its own form', async () => {
    const topic = unique('t');
    const subscribers = [
      await door.connect(),
      await door.connect311(),
      await door.connect({ protocolVersion: 3 }),
    ];
    for (const subscriber of subscribers) await subscriber.subscribe(topic, { qos: 1 });
    const { topicAlias: _, ...properties }: Record<string, unknown> = ALL_PROPERTIES;
    await (await door.connect()).publish(topic, 'text', { qos: 1, properties });
    const [modern, ...older] = await Promise.all(subscribers.map((subscriber) => subscriber.receive()));
    expect(modern?.properties).toMatchObject({ contentType: 'text/plain', responseTopic: 'reply' });
    for (const { wire, messageId } of older) {
      expect(wire).toEqual(packet(0x32, text(topic), u16(messageId ?? 0), Buffer.from('text')));
    }
  });

  test('a subscription of MQTT 3.1.1 gets the client’s own messages and RETAIN 0 [MQTT3-3.3.1-9]', async () => {
    const topic = unique('t');
    const client = await door.connect311();
    await client.subscribe(topic);
    await client.publish(topic, 'own', { retain: true });
    const message = await client.receive();
    await client.publish(topic, '', { retain: true });
    expect(message).toMatchObject({ payload: 'own', retain: false });
  });

  test('a session begun with MQTT 5.0 goes on with MQTT 3.1.1: subscriptions and waiting messages stay', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1, identifier: 3 });
    await before.disconnect();
    await (await door.connect()).publish(topic, 'text', {
      qos: 1,
      properties: { contentType: 'text/plain' },
    });
    const after = await door.resume311(clientId);
    expect(after.connack.sessionPresent).toBe(true);
    const { wire, messageId } = await after.receive();
    expect(wire).toEqual(packet(0x32, text(topic), u16(messageId ?? 0), Buffer.from('text')));
  });
});
