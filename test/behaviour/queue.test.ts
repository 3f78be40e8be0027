import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { type DoorFixture, NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';

const payloadsOf = (messages: readonly { payload: string }[]) => messages.map(({ payload }) => payload);

/** A session that is offline and subscribes to a topic of its own. */
async function offlineSession(door: DoorFixture, { qos = 1 as 0 | 1 | 2, version = 5 as 4 | 5 } = {}) {
  const topic = unique('t');
  const clientId = unique('c');
  const resume = () => (version === 5 ? door.resume(clientId) : door.resume311(clientId));
  const client = await resume();
  await client.subscribe(topic, { qos });
  await client.disconnect();
  return { topic, clientId, resume };
}

describe('The queue of a session that is offline', () => {
  const door = useDoor();

  for (const version of [5, 4] as const) {
    const name = version === 5 ? 'MQTT 5.0' : 'MQTT 3.1.1';

    test(`keeps messages at QoS 1 and 2 in their order, ${name} [MQTT-4.5.0-1] [MQTT-3.1.2-23] [MQTT3-4.5.0-1]`, async () => {
      const { topic, resume } = await offlineSession(door, { qos: 2, version });
      const publisher = await door.connect();
      for (const payload of ['1', '2', '3', '4']) {
        await publisher.publish(topic, payload, { qos: Number(payload) % 2 ? 1 : 2 });
      }
      const client = await resume();
      expect(client.connack.sessionPresent).toBe(true);
      const messages = await client.receiveMany(4);
      expect(messages.map(({ payload, qos, dup }) => ({ payload, qos, dup }))).toEqual([
        { payload: '1', qos: 1, dup: false },
        { payload: '2', qos: 2, dup: false },
        { payload: '3', qos: 1, dup: false },
        { payload: '4', qos: 2, dup: false },
      ]);
      await client.expectNothing();
    });
  }

  test('keeps a message at the lower of the two QoS [MQTT-3.8.4-8]', async () => {
    const { topic, resume } = await offlineSession(door, { qos: 1 });
    await (await door.connect()).publish(topic, 'x', { qos: 2 });
    expect(await (await resume()).receive()).toMatchObject({ payload: 'x', qos: 1 });
  });

  test('is delivered once: acknowledged messages are gone [MQTT-4.3.2-3]', async () => {
    const { topic, resume } = await offlineSession(door);
    await (await door.connect()).publish(topic, 'x', { qos: 1 });
    const first = await resume();
    await first.receive();
    await first.ping();
    await first.disconnect();
    await (await resume()).expectNothing();
  });

  test('is delivered although the client cut the connection before it had received anything [MQTT-4.4.0-1] [MQTT-4.5.0-1]', async () => {
    const { topic, resume } = await offlineSession(door);
    const publisher = await door.connect();
    for (const payload of ['1', '2', '3']) await publisher.publish(topic, payload, { qos: 1 });
    await (await resume()).raw.vanish();
    const client = await resume();
    expect(payloadsOf(await client.receiveMany(3))).toEqual(['1', '2', '3']);
  });

  test('is separate for each session [MQTT-4.5.0-1]', async () => {
    const one = await offlineSession(door);
    const two = await offlineSession(door);
    const publisher = await door.connect();
    await publisher.publish(one.topic, 'to one', { qos: 1 });
    await publisher.publish(two.topic, 'to two', { qos: 1 });
    expect(payloadsOf([await (await two.resume()).receive()])).toEqual(['to two']);
    expect(payloadsOf([await (await one.resume()).receive()])).toEqual(['to one']);
  });

  test('loses nothing when another connection takes the session over in the middle [MQTT-4.4.0-1] [MQTT-4.5.0-1]', async () => {
    const { topic, resume } = await offlineSession(door);
    const publisher = await door.connect();
    const sent = Array.from({ length: 30 }, (_, index) => `${index}`);
    for (const payload of sent) await publisher.publish(topic, payload, { qos: 1 });
    const first = await resume();
    const acknowledged = await first.receiveMany(5);
    for (const message of acknowledged) await first.acknowledge(message);
    await first.ping();
    const second = await resume();
    const received = payloadsOf(acknowledged);
    while (received.length < sent.length) received.push((await second.receive()).payload);
    expect(received).toEqual(sent);
    await second.expectNothing();
  });

  test('holds a thousand messages [MQTT-4.5.0-1]', async () => {
    const { topic, resume } = await offlineSession(door);
    const publisher = await door.connect();
    const sent = Array.from({ length: 1000 }, (_, index) => `${index}`);
    for (let from = 0; from < sent.length; from += 20) {
      const ids = sent
        .slice(from, from + 20)
        .map((payload) => publisher.sendPublish(topic, payload, { qos: 1 }));
      for (const id of ids) await publisher.take('puback', id);
    }
    const client = await resume();
    const received: string[] = [];
    while (received.length < sent.length) received.push((await client.receive()).payload);
    expect(received).toEqual(sent);
    await client.expectNothing();
  });
});

for (const [queueWhenFull, kept] of [
  ['drop-oldest', ['3', '4', '5']],
  ['drop-newest', ['1', '2', '3']],
] as const) {
  describe(withOptions(`A full queue with ${queueWhenFull}`), NEEDS_OWN_DOOR, () => {
    const door = useDoor({ queueLengthMax: 3, queueWhenFull });

    test(`keeps ${kept.join(', ')} of five messages, and every publisher is acknowledged`, async () => {
      const { topic, resume } = await offlineSession(door);
      const publisher = await door.connect();
      for (const payload of ['1', '2', '3', '4', '5']) {
        const { reasonCode } = (await publisher.publish(topic, payload, { qos: 1 })) ?? {};
        expect(reasonCode).toBeLessThan(0x80);
      }
      const client = await resume();
      expect(payloadsOf(await client.receiveMany(3))).toEqual(kept);
      await client.expectNothing();
    });

    test('keeps messages that have been sent already: the limit counts waiting ones only', async () => {
      const topic = unique('t');
      const clientId = unique('c');
      const properties = { receiveMaximum: 2 };
      const before = await door.resume(clientId, { properties });
      await before.subscribe(topic, { qos: 1 });
      const publisher = await door.connect();
      for (const payload of ['a', 'b', '1', '2', '3', '4', '5']) {
        await publisher.publish(topic, payload, { qos: 1 });
      }
      expect(payloadsOf(await before.receiveMany(2))).toEqual(['a', 'b']);
      await before.disconnect();
      const after = await door.resume(clientId);
      expect(payloadsOf(await after.receiveMany(5))).toEqual(['a', 'b', ...kept]);
      await after.expectNothing();
    });
  });
}
