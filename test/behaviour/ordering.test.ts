import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

const door = useDoor();

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
const payloadsOf = (messages: readonly { payload: string }[]) => messages.map(({ payload }) => payload);

/** Sends all without waiting for acknowledgements, a few at a time to stay within the broker's Receive Maximum. */
async function publishFast(
  publisher: TestClient,
  topic: string,
  payloads: readonly string[],
  qos: 0 | 1 | 2,
) {
  const AT_ONCE = 10;
  for (let from = 0; from < payloads.length; from += AT_ONCE) {
    const ids = payloads
      .slice(from, from + AT_ONCE)
      .map((payload) => publisher.sendPublish(topic, payload, { qos }));
    if (qos === 1) for (const id of ids) await publisher.take('puback', id);
    if (qos === 2) {
      for (const id of ids) {
        await publisher.take('pubrec', id);
        publisher.raw.send({ cmd: 'pubrel', messageId: id });
      }
      for (const id of ids) await publisher.take('pubcomp', id);
    }
  }
  await publisher.ping();
}

describe('Messages of one publisher, topic and QoS', () => {
  for (const qos of [0, 1, 2] as const) {
    test(`arrive in the order they were sent, QoS ${qos} [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT3-4.6.0-5] [MQTT3-4.6.0-6]`, async () => {
      const topic = unique('t');
      const subscribers = [await door.connect(), await door.connect311()];
      for (const subscriber of subscribers) await subscriber.subscribe(topic, { qos });
      const sent = numbers(80);
      await publishFast(await door.connect(), topic, sent, qos);
      for (const subscriber of subscribers) {
        const received: string[] = [];
        while (received.length < sent.length) received.push((await subscriber.receive()).payload);
        expect(received).toEqual(sent);
        await subscriber.expectNothing();
      }
    });
  }

  test('arrive in their order from each of several publishers at once [MQTT-4.6.0-5] [MQTT-4.6.0-6]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(`${topic}/#`, { qos: 1 });
    const publishers = [await door.connect(), await door.connect(), await door.connect()];
    await Promise.all(
      publishers.map((publisher, index) =>
        publishFast(
          publisher,
          topic,
          numbers(30).map((payload) => `${index}:${payload}`),
          1,
        ),
      ),
    );
    const received: string[] = [];
    while (received.length < 90) received.push((await subscriber.receive()).payload);
    for (const index of [0, 1, 2]) {
      const own = received.filter((payload) => payload.startsWith(`${index}:`));
      expect(own).toEqual(numbers(30).map((payload) => `${index}:${payload}`));
    }
  });

  test('arrive in their order although the subscriber acknowledges late and in any order [MQTT-4.6.0-5] [MQTT-4.6.0-6]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect({ properties: { receiveMaximum: 4 } });
    await subscriber.subscribe(topic, { qos: 1 });
    const sent = numbers(40);
    await publishFast(await door.connect(), topic, sent, 1);
    const received: string[] = [];
    while (received.length < sent.length) {
      const batch = await subscriber.receiveMany(Math.min(4, sent.length - received.length));
      received.push(...payloadsOf(batch));
      for (const message of batch.reverse()) await subscriber.acknowledge(message);
    }
    expect(received).toEqual(sent);
  });

  test('keep their order when a session comes back: unacknowledged ones first, then those that waited, then new ones [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT-4.4.0-1] [MQTT3-4.6.0-6]', async () => {
    const topic = unique('t');
    for (const version of [5, 4] as const) {
      const clientId = unique('c');
      const resume = () => (version === 5 ? door.resume(clientId) : door.resume311(clientId));
      const before = await resume();
      await before.subscribe(topic, { qos: 1 });
      const publisher = await door.connect();
      await publishFast(publisher, topic, numbers(5), 1);
      const [, second] = await before.receiveMany(5);
      if (second !== undefined) await before.acknowledge(second);
      await before.ping();
      await before.disconnect();
      await publishFast(publisher, topic, ['offline 1', 'offline 2', 'offline 3'], 1);
      const after = await resume();
      await publishFast(publisher, topic, ['live 1', 'live 2'], 1);
      const expected = ['0', '2', '3', '4', 'offline 1', 'offline 2', 'offline 3', 'live 1', 'live 2'];
      expect(payloadsOf(await after.receiveMany(expected.length))).toEqual(expected);
      await after.expectNothing();
    }
  });

  test('keep their order for an unacknowledged mixture of QoS 1 and QoS 2 [MQTT-4.4.0-1] [MQTT3-4.6.0-6]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 2 });
    const publisher = await door.connect();
    for (const payload of numbers(8)) {
      await publisher.publish(topic, payload, { qos: Number(payload) % 2 ? 1 : 2 });
    }
    const first = await before.receiveMany(8);
    await before.raw.vanish();
    const again = await (await door.resume(clientId)).receiveMany(8);
    expect(again.map(({ payload, qos, messageId }) => ({ payload, qos, messageId }))).toEqual(
      first.map(({ payload, qos, messageId }) => ({ payload, qos, messageId })),
    );
    expect(again.every(({ dup }) => dup)).toBe(true);
  });

  test('PUBRELs answer PUBRECs in the order of the PUBRECs', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(topic, { qos: 2 });
    await publishFast(await door.connect(), topic, numbers(5), 2);
    const ids = (await subscriber.receiveMany(5)).map(({ messageId }) => messageId).reverse();
    for (const messageId of ids) subscriber.raw.send({ cmd: 'pubrec', messageId });
    for (const messageId of ids) expect(await subscriber.raw.expect('pubrel')).toMatchObject({ messageId });
  });
});
