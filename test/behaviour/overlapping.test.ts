import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, PropertyId, propertiesOf } from './util/bytes.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message } from './util/test-client.ts';

/** The Subscription Identifiers of a message, smallest first. */
function identifiersOf(message: Message): number[] {
  const found = message.properties.subscriptionIdentifier as number | number[] | undefined;
  return [found ?? []].flat().sort((a, b) => a - b);
}

describe('Overlapping subscriptions of one client', () => {
  const door = useDoor();

  for (const protocolVersion of [5, 4] as const) {
    const name = protocolVersion === 5 ? 'MQTT 5.0' : 'MQTT 3.1.1';

    test(`bring one copy at the highest QoS of all that match, ${name} [MQTT-3.3.4-2] [MQTT3-3.3.5-1]`, async () => {
      const topic = unique('t');
      const subscriber = await door.connect({ protocolVersion });
      await subscriber.subscribe([
        { topic: `${topic}/#`, qos: 0 },
        { topic: `${topic}/+`, qos: 2 },
        { topic: `${topic}/a`, qos: 1 },
        { topic: `+/a`, qos: 0 },
        { topic: `${topic}/b`, qos: 2 },
      ]);
      const publisher = await door.connect();
      for (const qos of [2, 1, 0] as const) {
        await publisher.publish(`${topic}/a`, 'x', { qos });
        expect(await subscriber.receive()).toMatchObject({ topic: `${topic}/a`, qos });
        await subscriber.expectNothing();
      }
      await publisher.publish(`${topic}/a/b`, 'x', { qos: 2 });
      expect(await subscriber.receive()).toMatchObject({ topic: `${topic}/a/b`, qos: 0 });
      await subscriber.expectNothing();
    });
  }

  test('bring one copy with the Subscription Identifiers of all that match and have one [MQTT-3.3.4-3] [MQTT-3.3.4-4]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(`${topic}/#`, { identifier: 1 });
    await subscriber.subscribe(`${topic}/+`, { identifier: 268_435_455 });
    await subscriber.subscribe(`${topic}/a`);
    await subscriber.subscribe(`${topic}/b`, { identifier: 300 });
    const publisher = await door.connect();
    await publisher.publish(`${topic}/a`, 'x');
    expect(identifiersOf(await subscriber.receive())).toEqual([1, 268_435_455]);
    await publisher.publish(`${topic}/b`, 'x');
    expect(identifiersOf(await subscriber.receive())).toEqual([1, 300, 268_435_455]);
    await subscriber.expectNothing();
  });

  test('with the same identifier send it once for each [MQTT-3.3.4-4]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe([`${topic}/#`, `${topic}/a`], { identifier: 5 });
    await (await door.connect()).publish(`${topic}/a`, 'x');
    const list = propertiesOf((await subscriber.receive()).wire);
    const identifier = { id: PropertyId.subscriptionIdentifier, value: Buffer.from([5]) };
    expect(list).toEqual([identifier, identifier]);
  });

  test('without identifiers bring a message without properties [MQTT-2.2.2-1]', async () => {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe([`${topic}/#`, `${topic}/a`]);
    await (await door.connect()).publish(`${topic}/a`, 'x');
    const { wire } = await subscriber.receive();
    expect(wire.subarray(-2)).toEqual(Buffer.concat([NO_PROPERTIES, Buffer.from('x')]));
  });

  test('of which one has No Local bring the client’s own message by the other alone [MQTT-3.8.3-3] [MQTT-3.3.4-4]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(`${topic}/#`, { nl: true, qos: 2, identifier: 1 });
    await client.subscribe(`${topic}/a`, { qos: 1, identifier: 2 });
    await client.publish(`${topic}/a`, 'own', { qos: 2 });
    const own = await client.receive();
    expect(own).toMatchObject({ payload: 'own', qos: 1 });
    expect(identifiersOf(own)).toEqual([2]);
    await (await door.connect()).publish(`${topic}/a`, 'of another', { qos: 2 });
    const other = await client.receive();
    expect(other).toMatchObject({ payload: 'of another', qos: 2 });
    expect(identifiersOf(other)).toEqual([1, 2]);
    await client.expectNothing();
  });

  test('bring one copy to a session that was offline too [MQTT-3.3.4-2] [MQTT-3.3.4-4] [MQTT-4.5.0-1]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(`${topic}/#`, { qos: 1, identifier: 1 });
    await before.subscribe(`${topic}/a`, { qos: 2, identifier: 2 });
    await before.subscribe(`${topic}/+`, { qos: 0, identifier: 3 });
    await before.disconnect();
    await (await door.connect()).publish(`${topic}/a`, 'x', { qos: 2 });
    const after = await door.resume(clientId);
    const message = await after.receive();
    expect(message.qos).toBe(2);
    expect(identifiersOf(message)).toEqual([1, 2, 3]);
    await after.expectNothing();
  });

  test('of two clients are not overlapping: each gets its copy at its QoS [MQTT-3.3.4-2]', async () => {
    const topic = unique('t');
    const [one, two] = [await door.connect(), await door.connect()];
    await one.subscribe(`${topic}/#`, { qos: 1 });
    await two.subscribe(`${topic}/a`, { qos: 2 });
    await (await door.connect()).publish(`${topic}/a`, 'x', { qos: 2 });
    expect(await one.receive()).toMatchObject({ qos: 1 });
    expect(await two.receive()).toMatchObject({ qos: 2 });
  });
});

describe(withOptions('Overlapping subscriptions where each brings a copy'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ overlapping: 'each' });

  test('each copy has its subscription’s QoS and identifier [MQTT-3.3.4-2] [MQTT-3.3.4-3] [MQTT-3.3.4-5]', async () => {
    const subscriber = await door.connect();
    await subscriber.subscribe('t/#', { qos: 0, identifier: 1 });
    await subscriber.subscribe('t/a', { qos: 2, identifier: 2 });
    await subscriber.subscribe('t/+', { qos: 1 });
    await (await door.connect()).publish('t/a', 'x', { qos: 2 });
    const copies = [await subscriber.receive(), await subscriber.receive(), await subscriber.receive()];
    await subscriber.expectNothing();
    const seen = copies.map((copy) => ({ qos: copy.qos, identifiers: identifiersOf(copy) }));
    expect(seen.sort((a, b) => a.qos - b.qos)).toEqual([
      { qos: 0, identifiers: [1] },
      { qos: 1, identifiers: [] },
      { qos: 2, identifiers: [2] },
    ]);
  });

  test('each copy waits for a session that is offline [MQTT-3.3.4-5] [MQTT-4.5.0-1]', async () => {
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe('o/#', { qos: 1, identifier: 1 });
    await before.subscribe('o/a', { qos: 1, identifier: 2 });
    await before.disconnect();
    await (await door.connect()).publish('o/a', 'x', { qos: 1 });
    const copies = await (await door.resume(clientId)).receiveMany(2);
    expect(copies.flatMap(identifiersOf).sort()).toEqual([1, 2]);
    expect(new Set(copies.map(({ messageId }) => messageId)).size).toBe(2);
  });
});
