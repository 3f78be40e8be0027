import { afterEach, describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import type { PublishFields, SubscriptionOptions } from './util/test-client.ts';

const door = useDoor();

/** Topics that a test has left a retained message at. */
const retainedTopics = new Set<string>();

afterEach(async () => {
  const cleaner = await door.connect();
  for (const topic of retainedTopics) await cleaner.publish(topic, '', { retain: true });
  retainedTopics.clear();
});

/** Publishes a retained message and returns when the broker has taken it. */
async function retain(topic: string, payload: string, fields: PublishFields = {}): Promise<void> {
  retainedTopics.add(topic);
  await (await door.connect()).publish(topic, payload, { qos: 1, ...fields, retain: true });
}

/** The payload that a new subscriber gets; undefined when it gets nothing. */
async function retainedAt(topic: string): Promise<string | undefined> {
  const subscriber = await door.connect();
  await subscriber.subscribe(topic, { qos: 2 });
  subscriber.raw.send({ cmd: 'pingreq' });
  const packet = await subscriber.raw.next();
  return packet.cmd === 'publish' ? String(packet.payload) : undefined;
}

/** A subscriber of its own for one filter. */
async function subscribed(filter: string, options: SubscriptionOptions & { identifier?: number } = {}) {
  const subscriber = await door.connect();
  await subscriber.subscribe(filter, options);
  return subscriber;
}

describe('A retained message is kept', () => {
  for (const qos of [0, 1, 2] as const) {
    test(`when it was published with RETAIN at QoS ${qos}, and a new subscriber gets it with RETAIN 1 [MQTT-3.3.1-5] [MQTT-3.3.1-9] [MQTT3-3.3.1-5] [MQTT3-3.3.1-6] [MQTT3-3.3.1-8]`, async () => {
      const topic = unique('t');
      await retain(topic, 'kept', { qos });
      for (const subscriber of [await door.connect(), await door.connect311()]) {
        await subscriber.subscribe(topic, { qos: 2 });
        expect(await subscriber.receive()).toMatchObject({
          topic,
          payload: 'kept',
          qos,
          retain: true,
          dup: false,
        });
        await subscriber.expectNothing();
      }
    });
  }

  test('with its QoS, so that a subscriber gets it at the lower of the two [MQTT-3.3.1-5] [MQTT-3.8.4-8] [MQTT3-3.3.1-5] [MQTT3-3.8.4-6]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept', { qos: 2 });
    for (const qos of [0, 1, 2] as const) {
      const subscriber = await subscribed(topic, { qos });
      expect(await subscriber.receive()).toMatchObject({ payload: 'kept', qos });
    }
  });

  test('in place of the one before, at QoS 0 too [MQTT-3.3.1-5] [MQTT3-3.3.1-5] [MQTT3-3.3.1-7]', async () => {
    const topic = unique('t');
    await retain(topic, 'old', { qos: 2 });
    await retain(topic, 'new', { qos: 1 });
    expect(await retainedAt(topic)).toBe('new');
    await retain(topic, 'newest', { qos: 0 });
    expect(await retainedAt(topic)).toBe('newest');
  });

  test('for each topic on its own, and a wildcard filter gets them all [MQTT-3.3.1-9] [MQTT3-3.3.1-6]', async () => {
    const topic = unique('t');
    const names = ['', '/a', '/a/b', '/b/c', '/A'].map((suffix) => topic + suffix);
    for (const name of names) await retain(name, name);
    const everything = await subscribed(`${topic}/#`, { qos: 1 });
    const received = (await everything.receiveMany(names.length)).map(({ payload }) => payload);
    expect(received.sort()).toEqual([...names].sort());
    await everything.expectNothing();
    const oneLevel = await subscribed(`${topic}/+`, { qos: 1 });
    const some = (await oneLevel.receiveMany(2)).map(({ payload }) => payload);
    expect(some.sort()).toEqual([`${topic}/A`, `${topic}/a`]);
    await oneLevel.expectNothing();
  });

  test('after its publisher’s session has ended [MQTT-3.3.1-5] [MQTT3-3.3.1-5]', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    retainedTopics.add(topic);
    await publisher.publish(topic, 'kept', { qos: 1, retain: true });
    await publisher.disconnect();
    expect(await retainedAt(topic)).toBe('kept');
  });

  test('while messages without RETAIN go by, empty ones too [MQTT-3.3.1-8] [MQTT3-3.3.1-12]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    const publisher = await door.connect();
    await publisher.publish(topic, 'passing', { qos: 1 });
    await publisher.publish(topic, '', { qos: 1 });
    expect(await retainedAt(topic)).toBe('kept');
  });

  test('never when RETAIN was 0 [MQTT-3.3.1-8] [MQTT3-3.3.1-12]', async () => {
    const topic = unique('t');
    await (await door.connect()).publish(topic, 'passing', { qos: 1 });
    expect(await retainedAt(topic)).toBeUndefined();
  });

  test('and is not sent for a filter beginning with a wildcard when its topic begins with $ [MQTT-4.7.2-1] [MQTT3-4.7.2-1]', async () => {
    const name = unique('t');
    await retain(`$test/${name}`, 'hidden');
    const subscriber = await subscribed(`+/${name}`);
    await subscriber.expectNothing();
    expect(await retainedAt(`$test/${name}`)).toBe('hidden');
  });
});

describe('An empty retained message', () => {
  for (const qos of [0, 1, 2] as const) {
    test(`removes the retained message at QoS ${qos} and is not kept itself [MQTT-3.3.1-6] [MQTT-3.3.1-7] [MQTT3-3.3.1-10] [MQTT3-3.3.1-11]`, async () => {
      const topic = unique('t');
      await retain(topic, 'kept');
      await retain(topic, '', { qos });
      expect(await retainedAt(topic)).toBeUndefined();
    });
  }

  test('goes to subscribers, like any message [MQTT-3.3.1-6] [MQTT3-3.3.1-10]', async () => {
    const topic = unique('t');
    const modern = await subscribed(topic, { qos: 1, rap: true });
    const classic = await door.connect311();
    await classic.subscribe(topic, { qos: 1 });
    await retain(topic, '');
    expect(await modern.receive()).toMatchObject({ topic, payload: '', retain: true });
    expect(await classic.receive()).toMatchObject({ topic, payload: '', retain: false });
  });

  test('leaves other topics alone [MQTT-3.3.1-6]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    await retain(`${topic}/a`, '');
    await retain(topic.toUpperCase(), '');
    expect(await retainedAt(topic)).toBe('kept');
  });
});

describe('The RETAIN flag of a forwarded message', () => {
  test('is 0 without Retain As Published, and in MQTT 3.1.1 [MQTT-3.3.1-12] [MQTT3-3.3.1-9]', async () => {
    const topic = unique('t');
    const modern = await subscribed(topic, { rap: false });
    const classic = await door.connect311();
    await classic.subscribe(topic);
    await retain(topic, 'now');
    for (const client of [modern, classic]) {
      expect(await client.receive()).toMatchObject({ payload: 'now', retain: false });
    }
  });

  test('is the publisher’s with Retain As Published [MQTT-3.3.1-13]', async () => {
    const topic = unique('t');
    const subscriber = await subscribed(topic, { rap: true });
    await retain(topic, 'kept');
    expect(await subscriber.receive()).toMatchObject({ payload: 'kept', retain: true });
    await (await door.connect()).publish(topic, 'passing');
    expect(await subscriber.receive()).toMatchObject({ payload: 'passing', retain: false });
  });

  test('is the publisher’s with Retain As Published for a message that waited, else 0 [MQTT-3.3.1-12] [MQTT-3.3.1-13]', async () => {
    for (const rap of [true, false]) {
      const topic = unique('t');
      const clientId = unique('c');
      const before = await door.resume(clientId);
      await before.subscribe(topic, { qos: 1, rap });
      await before.disconnect();
      await retain(topic, 'kept');
      const after = await door.resume(clientId);
      expect(await after.receive()).toMatchObject({ payload: 'kept', retain: rap });
    }
  });

  test('is 1 on subscribing, with Retain As Published and without [MQTT-3.3.1-9]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    for (const rap of [true, false]) {
      const subscriber = await subscribed(topic, { rap });
      expect(await subscriber.receive()).toMatchObject({ payload: 'kept', retain: true });
    }
  });
});

describe('Retain Handling', () => {
  test('0, and MQTT 3.1.1, sends retained messages with each SUBSCRIBE, to a subscription that exists too [MQTT-3.3.1-9] [MQTT-3.8.4-4] [MQTT3-3.8.4-3]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    for (const subscriber of [await door.connect(), await door.connect311()]) {
      for (let round = 0; round < 2; round += 1) {
        await subscriber.subscribe(topic, { rh: 0 });
        expect(await subscriber.receive()).toMatchObject({ payload: 'kept', retain: true });
      }
      await subscriber.expectNothing();
    }
  });

  test('1 sends them to a new subscription only [MQTT-3.3.1-10]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    const subscriber = await subscribed(topic, { rh: 1 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'kept', retain: true });
    await subscriber.subscribe(topic, { rh: 1, qos: 1 });
    await subscriber.expectNothing();
    await subscriber.unsubscribe(topic);
    await subscriber.subscribe(topic, { rh: 1 });
    expect(await subscriber.receive()).toMatchObject({ payload: 'kept', retain: true });
  });

  test('1 sends none to a subscription that a session has kept [MQTT-3.3.1-10]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 0 });
    await before.disconnect();
    await retain(topic, 'kept', { qos: 0 });
    const after = await door.resume(clientId);
    await after.subscribe(topic, { rh: 1 });
    await after.expectNothing();
  });

  test('2 sends none [MQTT-3.3.1-11]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    const subscriber = await subscribed(topic, { rh: 2 });
    await subscriber.expectNothing();
  });

  test('holds for each filter of a SUBSCRIBE [MQTT-3.3.1-9] [MQTT-3.3.1-11] [MQTT-3.8.4-5]', async () => {
    const topic = unique('t');
    for (const name of ['yes', 'no']) await retain(`${topic}/${name}`, name);
    const subscriber = await door.connect();
    await subscriber.subscribe([
      { topic: `${topic}/no`, rh: 2 },
      { topic: `${topic}/yes`, rh: 0 },
    ]);
    expect(await subscriber.receive()).toMatchObject({ payload: 'yes' });
    await subscriber.expectNothing();
  });
});

describe('A retained message on subscribing', () => {
  test('carries the Subscription Identifier of its subscription [MQTT-3.3.4-3]', async () => {
    const topic = unique('t');
    await retain(topic, 'kept');
    const subscriber = await subscribed(topic, { identifier: 42 });
    expect((await subscriber.receive()).properties.subscriptionIdentifier).toBe(42);
  });

  test('respects the client’s Receive Maximum [MQTT-3.3.4-9]', async () => {
    const topic = unique('t');
    for (const name of ['a', 'b', 'c']) await retain(`${topic}/${name}`, name);
    const subscriber = await door.connect({ properties: { receiveMaximum: 1 } });
    await subscriber.subscribe(`${topic}/#`, { qos: 1 });
    const received: string[] = [];
    while (received.length < 3) {
      const message = await subscriber.receiveUnacknowledged();
      await subscriber.expectNothing();
      await subscriber.acknowledge(message);
      received.push(message.payload);
    }
    expect(received.sort()).toEqual(['a', 'b', 'c']);
  });

  test('is sent again when the session comes back and it was not acknowledged [MQTT-4.4.0-1] [MQTT-3.3.1-1]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    await retain(topic, 'kept');
    const before = await door.resume(clientId);
    await before.subscribe(topic, { qos: 1 });
    await before.receiveUnacknowledged();
    await before.raw.vanish();
    const after = await door.resume(clientId);
    expect(await after.receive()).toMatchObject({ payload: 'kept', retain: true, dup: true });
  });

  test('goes to a subscriber of its own topic with No Local too, which is about forwarding [MQTT-3.3.1-9]', async () => {
    const topic = unique('t');
    await retain(topic, 'of another client');
    const subscriber = await subscribed(topic, { nl: true });
    expect(await subscriber.receive()).toMatchObject({ payload: 'of another client' });
  });
});
