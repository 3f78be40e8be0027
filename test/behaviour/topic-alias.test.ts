import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const { ProtocolError, TopicAliasInvalid } = ReasonCode;

const alias = (topicAlias: number) => ({ qos: 1, properties: { topicAlias } }) as const;

const NO_ALIASES_AT_GATEWAY = onlyAt(
  'node',
  'another process may handle the next frame, and would not know the alias',
);

function aliasMaximum(client: TestClient): number {
  const properties = client.connack.properties as { topicAliasMaximum?: number } | undefined;
  return properties?.topicAliasMaximum ?? 0;
}

describe('Topic aliases that a client sets', () => {
  const door = useDoor();

  async function pair() {
    const topic = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe(`${topic}/#`);
    return { topic, subscriber, publisher: await door.connect() };
  }

  test('the broker offers some', NO_ALIASES_AT_GATEWAY, async () => {
    expect(aliasMaximum(await door.connect())).toBeGreaterThan(0);
  });

  test(
    'every alias from 1 to the maximum stands for its topic [MQTT-3.3.2-12]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const { topic, subscriber, publisher } = await pair();
      const maximum = aliasMaximum(publisher);
      for (let number = 1; number <= maximum; number += 1) {
        await publisher.publish(`${topic}/${number}`, 'set', alias(number));
      }
      await subscriber.receiveMany(maximum);
      for (let number = maximum; number >= 1; number -= 1) {
        await publisher.publish('', 'used', alias(number));
        expect(await subscriber.receive()).toMatchObject({ topic: `${topic}/${number}`, payload: 'used' });
      }
    },
  );

  test(
    'topics of more than 65,536 characters together end the connection with 0x97 [SEC-MEMORY-7]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const client = await door.connect();
      await client.publish(`${unique('t')}${'x'.repeat(40_000)}`, '', alias(1));
      client.raw.send({
        cmd: 'publish',
        ...{ topic: `${unique('t')}${'x'.repeat(40_000)}`, payload: '' },
        ...{ qos: 0, dup: false, retain: false, properties: { topicAlias: 2 } },
      });
      await client.expectRefused(ReasonCode.QuotaExceeded);
    },
  );

  test('an alias can be set and used at every QoS [MQTT-3.3.2-12]', NO_ALIASES_AT_GATEWAY, async () => {
    const { topic, subscriber, publisher } = await pair();
    for (const qos of [0, 1, 2] as const) {
      const name = `${topic}/${qos}`;
      await publisher.publish(name, 'set', { qos, properties: { topicAlias: 1 } });
      await publisher.publish('', 'used', { qos, properties: { topicAlias: 1 } });
      expect(await subscriber.receive()).toMatchObject({ topic: name, payload: 'set' });
      expect(await subscriber.receive()).toMatchObject({ topic: name, payload: 'used' });
    }
  });

  test(
    'an alias may be set anew, and the old topic is forgotten [MQTT-3.3.2-12]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const { topic, subscriber, publisher } = await pair();
      await publisher.publish(`${topic}/old`, 'x', alias(1));
      await publisher.publish(`${topic}/new`, 'x', alias(1));
      await publisher.publish('', 'x', alias(1));
      const topics = (await subscriber.receiveMany(3)).map((message) => message.topic);
      expect(topics).toEqual([`${topic}/old`, `${topic}/new`, `${topic}/new`]);
    },
  );

  test(
    'an alias belongs to its connection: two clients use the same number for two topics [MQTT-3.3.2-7]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const { topic, subscriber, publisher } = await pair();
      const other = await door.connect();
      await publisher.publish(`${topic}/one`, 'x', alias(1));
      await other.publish(`${topic}/two`, 'x', alias(1));
      await publisher.publish('', 'x', alias(1));
      await other.publish('', 'x', alias(1));
      const topics = (await subscriber.receiveMany(4)).map((message) => message.topic);
      expect(topics).toEqual([`${topic}/one`, `${topic}/two`, `${topic}/one`, `${topic}/two`]);
    },
  );

  test(
    'an alias is not carried over to the next connection of the session [MQTT-3.3.2-7]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const clientId = unique('c');
      const before = await door.resume(clientId);
      await before.publish(unique('t'), 'x', alias(1));
      await before.disconnect();
      const after = await door.resume(clientId);
      after.sendPublish('', 'x', alias(1));
      await after.expectRefused(ProtocolError, TopicAliasInvalid);
    },
  );

  test('an alias that was never set is refused', async () => {
    const client = await door.connect();
    client.sendPublish('', 'x', alias(1));
    await client.expectRefused(ProtocolError, TopicAliasInvalid);
  });

  test('alias 0 is refused with 0x94 [MQTT-3.3.2-8]', async () => {
    const client = await door.connect();
    client.sendPublish(unique('t'), 'x', alias(0));
    await client.expectRefused(TopicAliasInvalid);
  });

  test('an alias above the maximum is refused with 0x94 [MQTT-3.3.2-9]', async () => {
    const client = await door.connect();
    client.sendPublish(unique('t'), 'x', alias(aliasMaximum(client) + 1));
    await client.expectRefused(TopicAliasInvalid);
  });
});

describe(withOptions('Topic aliases where the broker takes none'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ topicAliasMaximum: 0 });

  test('any alias is refused with 0x94 [MQTT-3.3.2-9]', async () => {
    const client = await door.connect();
    expect(aliasMaximum(client)).toBe(0);
    client.sendPublish(unique('t'), 'x', alias(1));
    await client.expectRefused(TopicAliasInvalid);
  });
});

describe('Topic aliases that the broker sets', () => {
  const door = useDoor();

  /** The topics of one connection's messages, with aliases resolved as a client does. */
  function resolveAliases(messages: Message[], maximum: number): string[] {
    const known = new Map<number, string>();
    return messages.map(({ topic, properties }) => {
      const number = properties.topicAlias as number | undefined;
      if (number === undefined) return topic;
      expect(number).toBeGreaterThan(0);
      expect(number).toBeLessThanOrEqual(maximum);
      if (topic !== '') known.set(number, topic);
      const resolved = known.get(number);
      if (resolved === undefined) throw new Error(`alias ${number} was never set on this connection`);
      return resolved;
    });
  }

  const MESSAGES = 12;

  /** Publishes each of four topics three times. */
  async function publishAll(topic: string): Promise<string[]> {
    const publisher = await door.connect();
    const topics = Array.from({ length: MESSAGES }, (_, index) => `${topic}/${index % 4}`);
    for (const name of topics) await publisher.publish(name, 'x', { qos: 1 });
    return topics;
  }

  for (const [what, properties] of [
    ['without a Topic Alias Maximum', {}],
    ['with a Topic Alias Maximum of 0', { topicAliasMaximum: 0 }],
  ] as const) {
    test(`a client ${what} is sent none [MQTT-3.1.2-27] [MQTT-3.3.2-11]`, async () => {
      const topic = unique('t');
      const subscriber = await door.connect({ properties });
      await subscriber.subscribe(`${topic}/#`, { qos: 1 });
      const topics = await publishAll(topic);
      const messages = await subscriber.receiveMany(MESSAGES);
      expect(messages.map((message) => message.topic)).toEqual(topics);
      expect(messages.filter((message) => message.properties.topicAlias !== undefined)).toEqual([]);
    });
  }

  for (const topicAliasMaximum of [1, 3, 65535]) {
    test(`a client with a Topic Alias Maximum of ${topicAliasMaximum} can resolve the aliases that it is sent [MQTT-3.1.2-26] [MQTT-3.3.2-11]`, async () => {
      const topic = unique('t');
      const subscriber = await door.connect({ properties: { topicAliasMaximum } });
      await subscriber.subscribe(`${topic}/#`, { qos: 1 });
      const topics = await publishAll(topic);
      expect(resolveAliases(await subscriber.receiveMany(MESSAGES), topicAliasMaximum)).toEqual(topics);
    });
  }

  test(
    'the publisher’s alias is not passed on to the subscriber [MQTT-3.1.2-26] [MQTT-3.1.2-27]',
    NO_ALIASES_AT_GATEWAY,
    async () => {
      const topic = unique('t');
      const without = await door.connect();
      const withOne = await door.connect({ properties: { topicAliasMaximum: 1 } });
      for (const client of [without, withOne]) await client.subscribe(topic);
      const publisher = await door.connect();
      const { properties } = alias(2);
      await publisher.publish(topic, 'x', { properties });
      await publisher.publish('', 'x', { properties });
      for (const message of await without.receiveMany(2)) {
        expect(message).toMatchObject({ topic });
        expect(message.properties).toEqual({});
      }
      expect(resolveAliases(await withOne.receiveMany(2), 1)).toEqual([topic, topic]);
    },
  );

  test('on a new connection topics come with their names again, resent messages too [MQTT-3.3.2-7]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const properties = { topicAliasMaximum: 4 };
    const before = await door.resume(clientId, { properties });
    await before.subscribe(`${topic}/#`, { qos: 1 });
    const topics = await publishAll(topic);
    expect(resolveAliases(await before.receiveMany(MESSAGES), 4)).toEqual(topics);
    await before.disconnect();
    const after = await door.resume(clientId, { properties });
    expect(resolveAliases(await after.receiveMany(MESSAGES), 4)).toEqual(topics);
  });

  test('a session that comes back without a Topic Alias Maximum is sent none [MQTT-3.1.2-27]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId, { properties: { topicAliasMaximum: 4 } });
    await before.subscribe(`${topic}/#`, { qos: 1 });
    const topics = await publishAll(topic);
    await before.receiveMany(MESSAGES);
    await before.disconnect();
    const after = await door.resume(clientId);
    const messages = await after.receiveMany(MESSAGES);
    expect(messages.map((message) => message.topic)).toEqual(topics);
    expect(messages.filter((message) => message.properties.topicAlias !== undefined)).toEqual([]);
  });
});
