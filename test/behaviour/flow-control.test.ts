import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const KEPT_AT_NODE = onlyAt(
  'node',
  'in a session that ends with its connection QoS 1 messages are not kept, nor counted',
);

const { ReceiveMaximumExceeded } = ReasonCode;

const payloadsOf = (messages: readonly Message[]) => messages.map(({ payload }) => payload);

async function publishAll(publisher: TestClient, topic: string, qos: 1 | 2, payloads: readonly string[]) {
  for (const payload of payloads) await publisher.publish(topic, payload, { qos });
}

/** First step of a QoS 2 delivery: the message has arrived, but the exchange is not complete. */
async function received(client: TestClient, { messageId }: Message): Promise<void> {
  client.raw.send({ cmd: 'pubrec', messageId });
  await client.take('pubrel', messageId);
}

describe('The client’s Receive Maximum', () => {
  const door = useDoor();

  async function subscribed(receiveMaximum: number) {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await door.resume(clientId, { properties: { receiveMaximum } });
    await subscriber.subscribe(topic, { qos: 2 });
    return { topic, clientId, subscriber, publisher: await door.connect() };
  }

  test('bounds the unacknowledged messages at QoS 1; each PUBACK makes room for one more [MQTT-3.3.4-9] [MQTT-4.9.0-1] [MQTT-4.9.0-2]', async () => {
    const { topic, subscriber, publisher } = await subscribed(2);
    await publishAll(publisher, topic, 1, ['1', '2', '3', '4', '5']);
    const held = await subscriber.receiveMany(2);
    expect(payloadsOf(held)).toEqual(['1', '2']);
    await subscriber.expectNothing();
    for (const payload of ['3', '4', '5']) {
      const oldest = held.shift();
      if (oldest !== undefined) await subscriber.acknowledge(oldest);
      const next = await subscriber.receiveUnacknowledged();
      expect(next).toMatchObject({ payload, dup: false });
      await subscriber.expectNothing();
      held.push(next);
    }
  });

  test('counts a message at QoS 2 until PUBCOMP, not until PUBREC [MQTT-3.3.4-9] [MQTT-4.9.0-2]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 2, ['1', '2']);
    const first = await subscriber.receiveUnacknowledged();
    await subscriber.expectNothing();
    await received(subscriber, first);
    await subscriber.expectNothing();
    subscriber.raw.send({ cmd: 'pubcomp', messageId: first.messageId });
    expect(await subscriber.receive()).toMatchObject({ payload: '2' });
  });

  test('holds back messages that are published between PUBREC and PUBCOMP [MQTT-3.3.4-9] [MQTT-4.9.0-2]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 2, ['1']);
    const first = await subscriber.receiveUnacknowledged();
    await received(subscriber, first);
    await publishAll(publisher, topic, 1, ['2']);
    await subscriber.expectNothing();
    subscriber.raw.send({ cmd: 'pubcomp', messageId: first.messageId });
    expect(await subscriber.receive()).toMatchObject({ payload: '2' });
  });

  test('is freed by a PUBREC with an error [MQTT-3.3.4-9]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 2, ['refused', 'next']);
    const { messageId } = await subscriber.receiveUnacknowledged();
    subscriber.raw.send({ cmd: 'pubrec', messageId, reasonCode: 0x83 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'next' });
  });

  test('is freed by a PUBACK with an error [MQTT-3.3.4-9]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 1, ['refused', 'next']);
    const { messageId } = await subscriber.receiveUnacknowledged();
    subscriber.raw.send({ cmd: 'puback', messageId, reasonCode: 0x80 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'next' });
  });

  test('counts QoS 1 and QoS 2 together [MQTT-3.3.4-9] [MQTT-4.9.0-2]', async () => {
    const { topic, subscriber, publisher } = await subscribed(2);
    await publishAll(publisher, topic, 1, ['one']);
    await publishAll(publisher, topic, 2, ['two']);
    await publishAll(publisher, topic, 1, ['three']);
    const [one, two] = await subscriber.receiveMany(2);
    await subscriber.expectNothing();
    if (two !== undefined) await subscriber.acknowledge(two);
    expect(await subscriber.receiveUnacknowledged()).toMatchObject({ payload: 'three' });
    expect(one).toMatchObject({ payload: 'one' });
  });

  test('is not raised by an acknowledgement of a message that was not sent [MQTT-3.3.4-9] [MQTT-4.9.0-2]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 1, ['1', '2', '3']);
    const first = await subscriber.receiveUnacknowledged();
    subscriber.raw.send({ cmd: 'puback', messageId: (first.messageId ?? 0) + 1000 });
    await subscriber.expectNothing();
    await subscriber.acknowledge(first);
    expect(await subscriber.receiveUnacknowledged()).toMatchObject({ payload: '2' });
    await subscriber.expectNothing();
  });

  test('holds back nothing but PUBLISH: SUBACK, UNSUBACK, PINGRESP, PUBACK, PUBREC and PUBCOMP still come [MQTT-3.3.4-10] [MQTT-4.9.0-3]', async () => {
    const { topic, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 1, ['1', '2']);
    await subscriber.receiveUnacknowledged();
    const other = unique('other');
    expect(await subscriber.subscribe(other, { qos: 1 })).toEqual([1]);
    expect(await subscriber.unsubscribe(other)).toEqual([0]);
    await subscriber.ping();
    expect(await subscriber.publish(unique('t'), 'x', { qos: 1 })).toMatchObject({ cmd: 'puback' });
    expect(await subscriber.publish(unique('t'), 'x', { qos: 2 })).toMatchObject({ cmd: 'pubcomp' });
    await subscriber.expectNothing();
  });

  test('lets PUBRELs through: a second exchange is finished while the quota is used up [MQTT-3.3.4-10] [MQTT-4.9.0-3]', async () => {
    const { topic, subscriber, publisher } = await subscribed(2);
    await publishAll(publisher, topic, 2, ['1', '2', '3']);
    const [first, second] = await subscriber.receiveMany(2);
    await subscriber.expectNothing();
    for (const message of [second, first]) if (message !== undefined) await received(subscriber, message);
    await subscriber.expectNothing();
  });

  for (const qos of [1, 2] as const) {
    test(`bounds the messages sent when a session comes back, resent and waiting ones together, QoS ${qos} [MQTT-3.3.4-9] [MQTT-4.4.0-1]`, async () => {
      const { topic, clientId, subscriber, publisher } = await subscribed(3);
      await publishAll(publisher, topic, qos, ['1', '2', '3', '4', '5']);
      await subscriber.receiveMany(3);
      await subscriber.disconnect();
      const after = await door.resume(clientId, { properties: { receiveMaximum: 2 } });
      const seen: { payload: string; dup: boolean }[] = [];
      let held = await after.receiveMany(2);
      await after.expectNothing();
      while (held.length > 0) {
        seen.push(...held.map(({ payload, dup }) => ({ payload, dup })));
        for (const message of held) await after.acknowledge(message);
        held = await after.receiveMany(Math.min(2, 5 - seen.length));
      }
      expect(seen).toEqual([
        { payload: '1', dup: true },
        { payload: '2', dup: true },
        { payload: '3', dup: true },
        { payload: '4', dup: false },
        { payload: '5', dup: false },
      ]);
      await after.expectNothing();
    });
  }

  test('holds for the connection that stated it: a session that comes back with a larger one gets more [MQTT-3.3.4-9]', async () => {
    const { topic, clientId, subscriber, publisher } = await subscribed(1);
    await publishAll(publisher, topic, 1, ['1', '2', '3']);
    await subscriber.receiveUnacknowledged();
    await subscriber.disconnect();
    const after = await door.resume(clientId, { properties: { receiveMaximum: 3 } });
    expect(payloadsOf(await after.receiveMany(3))).toEqual(['1', '2', '3']);
  });
});

describe('The broker’s Receive Maximum', () => {
  const door = useDoor();

  const stated = (client: TestClient) =>
    (client.connack.properties as { receiveMaximum?: number } | undefined)?.receiveMaximum ?? 65535;

  /** Fills the quota with messages at QoS 2 that are not released. */
  async function fill(client: TestClient, topic: string): Promise<number> {
    const receiveMaximum = stated(client);
    for (let messageId = 1; messageId <= receiveMaximum; messageId += 1) {
      client.sendPublish(topic, 'x', { qos: 2, messageId });
      await client.take('pubrec', messageId);
    }
    return receiveMaximum;
  }

  test('may be used up: messages at QoS 0, SUBSCRIBE and PINGREQ still go [MQTT-4.9.0-3]', async () => {
    const client = await door.connect();
    await fill(client, unique('t'));
    const topic = unique('t');
    await client.subscribe(topic);
    await client.publish(topic, 'x');
    expect(await client.receive()).toMatchObject({ payload: 'x' });
    await client.expectNothing();
  });

  for (const qos of [1, 2] as const) {
    test(`is exceeded by one more message at QoS ${qos}: DISCONNECT 0x93 [MQTT-3.3.4-7]`, async () => {
      const client = await door.connect();
      const receiveMaximum = await fill(client, unique('t'));
      client.sendPublish(unique('t'), 'too many', { qos, messageId: receiveMaximum + 1 });
      await client.expectRefused(ReceiveMaximumExceeded);
    });
  }

  test('is not exceeded by sending one of them again [MQTT-3.3.4-7] [MQTT-4.3.3-10]', async () => {
    const client = await door.connect();
    const topic = unique('t');
    await fill(client, topic);
    client.sendPublish(topic, 'x', { qos: 2, messageId: 1, dup: true });
    await client.take('pubrec', 1);
    await client.expectNothing();
  });

  test('is freed by a complete exchange [MQTT-3.3.4-7]', async () => {
    const client = await door.connect();
    const receiveMaximum = await fill(client, unique('t'));
    client.raw.send({ cmd: 'pubrel', messageId: 1 });
    await client.take('pubcomp', 1);
    client.sendPublish(unique('t'), 'x', { qos: 2, messageId: receiveMaximum + 1 });
    await client.take('pubrec', receiveMaximum + 1);
    await client.expectNothing();
  });

  test('is not used up by many messages one after the other [MQTT-3.3.4-7]', async () => {
    const client = await door.connect();
    const topic = unique('t');
    for (let index = 0; index < 100; index += 1) await client.publish(topic, 'x', { qos: index % 2 ? 1 : 2 });
  });
});

describe(withOptions('Options of flow control'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ receiveMaximum: 2, inflightMessagesMax: 3 });

  test('the Receive Maximum is stated in CONNACK and kept [MQTT-3.3.4-7]', async () => {
    const client = await door.connect();
    expect(client.connack.properties).toMatchObject({ receiveMaximum: 2 });
    for (const messageId of [1, 2]) {
      client.sendPublish('t', 'x', { qos: 2, messageId });
      await client.take('pubrec', messageId);
    }
    client.sendPublish('t', 'x', { qos: 2, messageId: 3 });
    await client.expectRefused(ReceiveMaximumExceeded);
  });

  test(
    'no more than inflightMessagesMax are sent unacknowledged, even if the client would take more [MQTT-4.9.0-1]',
    KEPT_AT_NODE,
    async () => {
      for (const subscriber of [await door.connect(), await door.connect311()]) {
        const topic = unique('t');
        await subscriber.subscribe(topic, { qos: 1 });
        await publishAll(await door.connect(), topic, 1, ['1', '2', '3', '4']);
        const [first] = await subscriber.receiveMany(3);
        await subscriber.expectNothing();
        if (first !== undefined) await subscriber.acknowledge(first);
        expect(await subscriber.receive()).toMatchObject({ payload: '4' });
      }
    },
  );
});
