import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

const door = useDoor();

const payloadsOf = (messages: readonly { payload: string }[]) => messages.map(({ payload }) => payload);

async function publishAll(publisher: TestClient, topic: string, payloads: readonly string[]): Promise<void> {
  for (const payload of payloads) await publisher.publish(topic, payload, { qos: 1 });
}

describe('QoS 1 from a client', () => {
  test('is answered with PUBACK after the message was accepted [MQTT-4.3.2-4] [MQTT-2.2.1-5] [MQTT3-4.3.2-2]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 1 });
    for (const publisher of [await door.connect(), await door.connect311()]) {
      publisher.sendPublish(topic, 'x', { qos: 1, messageId: 65535 });
      expect(await publisher.raw.expect('puback')).toMatchObject({ messageId: 65535 });
      expect(await subscriber.receive()).toMatchObject({ payload: 'x' });
    }
  });

  for (const dup of [false, true]) {
    test(`with an acknowledged packet identifier and DUP ${Number(dup)} is a new message [MQTT-4.3.2-5] [MQTT3-4.3.2-2]`, async () => {
      const topic = unique('t');
      const subscriber = await door.connect();
      await subscriber.subscribe(topic, { qos: 1 });
      const publisher = await door.connect();
      await publisher.publish(topic, 'first', { qos: 1, messageId: 5 });
      await publisher.publish(topic, 'second', { qos: 1, messageId: 5, dup });
      expect(payloadsOf([await subscriber.receive(), await subscriber.receive()])).toEqual([
        'first',
        'second',
      ]);
    });
  }

  test('may use a packet identifier that the broker uses towards the client [MQTT-2.2.1-5]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(topic, { qos: 1 });
    await client.publish(topic, 'one', { qos: 1 });
    const one = await client.receiveUnacknowledged();
    await client.publish(topic, 'two', { qos: 1, messageId: one.messageId ?? 0 });
    const two = await client.receiveUnacknowledged();
    expect(two.messageId).not.toBe(one.messageId);
    for (const message of [one, two]) await client.acknowledge(message);
    await client.expectNothing();
  });
});

describe('QoS 1 to a client', () => {
  test('goes out with a packet identifier and DUP 0 [MQTT-4.3.2-1] [MQTT-4.3.2-2] [MQTT-2.2.1-4] [MQTT3-4.3.2-1] [MQTT3-2.3.1-4]', async () => {
    const topic = unique('t');
    for (const subscriber of [await door.connect(), await door.connect311()]) {
      await subscriber.subscribe(topic, { qos: 1 });
      await (await door.connect()).publish(topic, 'x', { qos: 1 });
      const message = await subscriber.receive();
      expect(message).toMatchObject({ payload: 'x', qos: 1, dup: false });
      expect(message.messageId).toBeGreaterThan(0);
    }
  });

  test('has an identifier that no unacknowledged message has [MQTT-4.3.2-1] [MQTT-2.2.1-4] [MQTT3-2.3.1-4]', async () => {
    const topic = unique('t');
    // One whose session is kept: the gateway door takes the others' identifiers from the messages' own.
    const subscriber = await door.connect({ properties: { sessionExpiryInterval: 60 } });
    await subscriber.subscribe(topic, { qos: 1 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'kept', { qos: 1 });
    const { messageId: inUse } = await subscriber.receiveUnacknowledged();
    for (let round = 0; round < 5; round += 1) {
      await publishAll(publisher, topic, ['a', 'b', 'c']);
      const messages = await subscriber.receiveMany(3);
      expect(new Set([inUse, ...messages.map(({ messageId }) => messageId)]).size).toBe(4);
      for (const message of messages) await subscriber.acknowledge(message);
    }
  });

  test('is not sent again on the same connection [MQTT-4.4.0-1]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 1 });
    const publisher = await door.connect();
    await publishAll(publisher, topic, ['one', 'two']);
    expect(payloadsOf(await subscriber.receiveMany(2))).toEqual(['one', 'two']);
    await subscriber.subscribe(unique('another'), { qos: 1 });
    await subscriber.expectNothing();
  });

  test('an acknowledgement of an unknown packet identifier does no harm', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 1 });
    subscriber.raw.send({ cmd: 'puback', messageId: 999 });
    await (await door.connect()).publish(topic, 'x', { qos: 1 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'x' });
  });
});

describe('QoS 1 to a session that comes back', () => {
  for (const version of [5, 4] as const) {
    const name = version === 5 ? 'MQTT 5.0' : 'MQTT 3.1.1';
    const resume = (clientId: string) => (version === 5 ? door.resume(clientId) : door.resume311(clientId));

    /** A subscriber that has received three messages and acknowledged none. */
    async function unacknowledged() {
      const topic = unique('t');
      const clientId = unique('c');
      const subscriber = await resume(clientId);
      await subscriber.subscribe(topic, { qos: 1 });
      const publisher = await door.connect();
      await publishAll(publisher, topic, ['one', 'two', 'three']);
      const messages = await subscriber.receiveMany(3);
      return { topic, clientId, subscriber, publisher, messages };
    }

    test(`unacknowledged messages are sent again with DUP and their identifiers, in their order, ${name} [MQTT-4.4.0-1] [MQTT-4.3.2-3] [MQTT-3.3.1-1] [MQTT3-4.4.0-1] [MQTT3-4.3.2-1] [MQTT3-3.3.1-1] [MQTT3-4.6.0-6]`, async () => {
      const { clientId, subscriber, messages } = await unacknowledged();
      await subscriber.raw.vanish();
      const after = await resume(clientId);
      for (const { messageId, payload } of messages) {
        expect(await after.receiveUnacknowledged()).toMatchObject({ messageId, payload, qos: 1, dup: true });
      }
      await after.expectNothing();
    });

    test(`it is sent again as often as the session comes back, until it is acknowledged, ${name} [MQTT-4.4.0-1] [MQTT-4.3.2-3] [MQTT3-4.4.0-1]`, async () => {
      const { clientId, subscriber, messages } = await unacknowledged();
      await subscriber.disconnect();
      for (let round = 0; round < 2; round += 1) {
        const again = await resume(clientId);
        expect(payloadsOf(await again.receiveMany(3))).toEqual(['one', 'two', 'three']);
        await again.disconnect();
      }
      const last = await resume(clientId);
      for (const message of await last.receiveMany(3)) await last.acknowledge(message);
      await last.ping();
      await last.disconnect();
      expect(messages).toHaveLength(3);
      await (await resume(clientId)).expectNothing();
    });

    test(`an acknowledged message is not sent again, later ones are, ${name} [MQTT-4.4.0-1] [MQTT-4.3.2-3] [MQTT3-4.4.0-1]`, async () => {
      const { clientId, subscriber, messages } = await unacknowledged();
      const [one, two] = messages;
      if (one === undefined || two === undefined) throw new Error('three messages were received');
      await subscriber.acknowledge(two);
      await subscriber.ping();
      await subscriber.raw.vanish();
      const after = await resume(clientId);
      expect(payloadsOf(await after.receiveMany(2))).toEqual(['one', 'three']);
      await after.expectNothing();
    });

    test(`it comes before messages that were published meanwhile, which have DUP 0, ${name} [MQTT-4.4.0-1] [MQTT-4.3.2-2] [MQTT3-4.4.0-1]`, async () => {
      const { topic, clientId, subscriber, publisher } = await unacknowledged();
      await subscriber.disconnect();
      await publishAll(publisher, topic, ['four', 'five']);
      const after = await resume(clientId);
      const messages = await after.receiveMany(5);
      expect(payloadsOf(messages)).toEqual(['one', 'two', 'three', 'four', 'five']);
      expect(messages.map(({ dup }) => dup)).toEqual([true, true, true, false, false]);
      expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(5);
    });

    test(`a clean start forgets it, ${name} [MQTT-4.4.0-1] [MQTT3-4.4.0-1]`, async () => {
      const { topic, clientId, subscriber } = await unacknowledged();
      await subscriber.disconnect();
      const fresh = await door.connect({ clientId, protocolVersion: version, clean: true });
      await fresh.subscribe(topic, { qos: 1 });
      await fresh.expectNothing();
    });
  }

  test('a PUBACK with an error counts as acknowledgement [MQTT-4.4.0-2]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId);
    await subscriber.subscribe(topic, { qos: 1 });
    await publishAll(await door.connect(), topic, ['refused', 'kept']);
    const [refused] = await subscriber.receiveMany(2);
    subscriber.raw.send({ cmd: 'puback', messageId: refused?.messageId, reasonCode: 0x83 });
    await subscriber.ping();
    await subscriber.raw.vanish();
    const after = await door.resume(clientId);
    expect(await after.receive()).toMatchObject({ payload: 'kept' });
    await after.expectNothing();
  });

  test('a resend states the rest of its Message Expiry Interval [MQTT-3.3.2-6]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId);
    await subscriber.subscribe(topic, { qos: 1 });
    const publisher = await door.connect();
    await publisher.publish(topic, 'long', { qos: 1, properties: { messageExpiryInterval: 100 } });
    await subscriber.receiveUnacknowledged();
    await subscriber.disconnect();
    const again = await (await door.resume(clientId)).receive();
    expect(again).toMatchObject({ payload: 'long', dup: true });
    expect(again.properties.messageExpiryInterval).toBeGreaterThan(90);
    expect(again.properties.messageExpiryInterval).toBeLessThanOrEqual(100);
  });
});
