import { describe, expect, test } from 'vitest';
import { notInACluster, onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

const REFUSED = 0x83;
const QUOTA_EXCEEDED = 0x97;
const HOT = 'payload.t > 80';

interface Suback {
  readonly codes: readonly number[];
  readonly reason: string | undefined;
}

/** SUBSCRIBE with `where` and other user properties, and what SUBACK says. */
async function subscribeWhere(
  client: TestClient,
  filters: string | readonly string[],
  where: string,
  { qos = 1, ...others }: Readonly<Record<string, unknown>> = {},
): Promise<Suback> {
  const messageId = client.nextPacketId();
  const subscriptions = [filters].flat().map((topic) => ({ topic, qos }));
  const properties = { userProperties: { where, ...others } };
  client.raw.send({ cmd: 'subscribe', messageId, subscriptions, properties });
  const suback = await client.take('suback', messageId);
  const { reasonString } = (suback.properties ?? {}) as { reasonString?: string };
  return { codes: suback.granted as number[], reason: reasonString };
}

const degrees = (t: number) => JSON.stringify({ t });

async function publishAll(publisher: TestClient, topic: string, ts: readonly number[], qos: 0 | 1 | 2 = 1) {
  for (const t of ts) await publisher.publish(topic, degrees(t), { qos });
}

const received = async (client: TestClient, count: number) =>
  (await client.receiveMany(count)).map(({ payload }) => (JSON.parse(payload) as { t: number }).t);

const GRANTED_ELSEWHERE = 'the gateway door grants no condition';

describe(withOptions('A subscription with where'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({
    streams: [
      { name: 'chat', topicFilter: 'chat/#' },
      { name: 'prices', topicFilter: 'prices/+', snapshot: true, key: 'symbol' },
    ],
  });

  const figure = async (name: string): Promise<number> => {
    const answer = await fetch(new URL('/api/v5/metrics', door.httpUrl));
    const processes = (await answer.json()) as Readonly<Record<string, number>>[];
    return processes.reduce((sum, metrics) => sum + (metrics[name] ?? 0), 0);
  };

  describe('where it is granted', onlyAt('node', GRANTED_ELSEWHERE), () => {
    test.each([0, 1, 2] as const)('is sent only messages that fit, at QoS %i', async (qos) => {
      const topic = unique('t');
      const reader = await door.connect();
      expect(await subscribeWhere(reader, topic, HOT, { qos })).toEqual({ codes: [qos], reason: undefined });
      const publisher = await door.connect();
      await publishAll(publisher, topic, [79, 81, 80, 90], qos);
      await publisher.publish(topic, 'no JSON', { qos });
      await publishAll(publisher, topic, [99], qos);
      expect(await received(reader, 3)).toEqual([81, 90, 99]);
      await reader.expectNothing();
    });

    test('has one condition for all of its filters, and none when it is made again without', async () => {
      const [a, b] = [unique('t'), unique('t')];
      const reader = await door.connect();
      expect((await subscribeWhere(reader, [a, b], HOT)).codes).toEqual([1, 1]);
      const publisher = await door.connect();
      for (const topic of [a, b]) await publishAll(publisher, topic, [1, 81]);
      expect(await received(reader, 2)).toEqual([81, 81]);
      await reader.subscribe(a, { qos: 1 });
      for (const topic of [a, b]) await publishAll(publisher, topic, [2]);
      expect(await received(reader, 1)).toEqual([2]);
      expect((await subscribeWhere(reader, a, 'payload.t < 0')).codes).toEqual([1]);
      await publishAll(publisher, a, [3, -1]);
      expect(await received(reader, 1)).toEqual([-1]);
      await reader.unsubscribe(a);
      await publishAll(publisher, a, [-2]);
      await reader.expectNothing();
    });

    test('sees topic, levels, user properties, content type, QoS and RETAIN', async () => {
      const topic = unique('t');
      const reader = await door.connect();
      const where = `topic.startsWith("${topic}/") && levels[1] == "a" && user.region == "eu" && content_type == "text/plain" && qos == 1 && retain`;
      expect((await subscribeWhere(reader, `${topic}/#`, where)).codes).toEqual([1]);
      const publisher = await door.connect();
      const properties = { userProperties: { region: 'eu' }, contentType: 'text/plain' };
      const fields = { qos: 1, retain: true, properties } as const;
      await publisher.publish(`${topic}/b`, 'another level', fields);
      await publisher.publish(`${topic}/a`, 'not retained', { ...fields, retain: false });
      await publisher.publish(`${topic}/a`, 'another QoS', { ...fields, qos: 2 });
      await publisher.publish(`${topic}/a`, 'no type', {
        ...fields,
        properties: { userProperties: { region: 'eu' } },
      });
      await publisher.publish(`${topic}/a`, 'another region', {
        ...fields,
        properties: { ...properties, userProperties: { region: 'us' } },
      });
      await publisher.publish(`${topic}/a`, 'it', fields);
      expect((await reader.receive()).payload).toBe('it');
      await reader.expectNothing();
    });

    test('beside another one of the session, a message comes for the one that it fits', async () => {
      const topic = unique('t');
      const reader = await door.connect();
      await reader.subscribe(`${topic}/+`, { qos: 0, identifier: 7 });
      expect((await subscribeWhere(reader, `${topic}/a`, HOT, { qos: 1 })).codes).toEqual([1]);
      const publisher = await door.connect();
      await publishAll(publisher, `${topic}/a`, [1, 81]);
      const [cold, hot] = await reader.receiveMany(2);
      expect([cold?.qos, cold?.properties.subscriptionIdentifier]).toEqual([0, 7]);
      expect([hot?.qos, hot?.properties.subscriptionIdentifier]).toEqual([1, 7]);
      await reader.expectNothing();
    });

    test('is sent the retained messages that fit', async () => {
      const topic = unique('t');
      const publisher = await door.connect();
      for (const t of [79, 81, 80, 90])
        await publisher.publish(`${topic}/${t}`, degrees(t), { qos: 1, retain: true });
      const reader = await door.connect();
      expect((await subscribeWhere(reader, `${topic}/+`, HOT)).codes).toEqual([1]);
      expect((await received(reader, 2)).sort()).toEqual([81, 90]);
      await reader.expectNothing();
    });

    test('of a kept session: nothing that does not fit waits for it, and it goes on with its condition', async () => {
      const [topic, clientId] = [unique('t'), unique('c')];
      const first = await door.resume(clientId);
      expect((await subscribeWhere(first, topic, HOT)).codes).toEqual([1]);
      await first.disconnect();
      const publisher = await door.connect();
      await publishAll(publisher, topic, [1, 81, 2, 82]);
      const again = await door.resume(clientId);
      expect(await received(again, 2)).toEqual([81, 82]);
      await publishAll(publisher, topic, [3, 83]);
      expect(await received(again, 1)).toEqual([83]);
      await again.expectNothing();
    });

    test('of a share group: a message goes to a member that it fits, and otherwise to nobody', async () => {
      const topic = unique('t');
      const members = [await door.connect(), await door.connect()] as const;
      for (const member of members)
        expect((await subscribeWhere(member, `$share/g/${topic}`, HOT)).codes).toEqual([1]);
      const publisher = await door.connect();
      await publishAll(publisher, topic, [1, 81, 2, 82, 3, 83]);
      const all: string[] = [];
      for (const member of members) {
        await member.ping();
        for (let early = member.takeEarly(); early !== undefined; early = member.takeEarly())
          all.push(early.payload);
      }
      expect(all.sort()).toEqual([81, 82, 83].map(degrees));
    });

    test(
      'of a share group whose members have several: it goes to one that it fits',
      notInACluster('the process is chosen first'),
      async () => {
        const topic = unique('t');
        const [hot, cold] = [await door.connect(), await door.connect()];
        await subscribeWhere(hot, `$share/g/${topic}`, HOT);
        await subscribeWhere(cold, `$share/g/${topic}`, 'payload.t < 0');
        const publisher = await door.connect();
        await publishAll(publisher, topic, [-1, 81, 5, -2, 82, 83, -3]);
        expect(await received(hot, 3)).toEqual([81, 82, 83]);
        expect(await received(cold, 3)).toEqual([-1, -2, -3]);
      },
    );

    test('of a stream is sent its history, and live messages, as far as they fit', async () => {
      const room = unique('chat/r');
      const publisher = await door.connect();
      await publishAll(publisher, room, [1, 81, 2, 82]);
      const reader = await door.connect();
      const { codes } = await subscribeWhere(reader, `$stream/chat/${room}`, HOT, { rewind: '10' });
      expect(codes).toEqual([0]);
      await publishAll(publisher, room, [3, 83, 4, 84]);
      expect(await received(reader, 4)).toEqual([81, 82, 83, 84]);
      await reader.expectNothing();
    });

    test('of a snapshot is sent the values that fit', async () => {
      const topic = unique('prices/p');
      const publisher = await door.connect();
      for (const [symbol, t] of [
        ['a', 1],
        ['b', 90],
        ['c', 85],
        ['b', 2],
      ] as const)
        await publisher.publish(topic, degrees(t), { qos: 1, properties: { userProperties: { symbol } } });
      const reader = await door.connect();
      const where = `${HOT} && user.symbol != "x"`;
      expect((await subscribeWhere(reader, `$stream/prices/${topic}`, where)).codes).toEqual([0]);
      expect(await received(reader, 1)).toEqual([85]);
      await publisher.publish(topic, degrees(95), {
        qos: 1,
        properties: { userProperties: { symbol: 'x' } },
      });
      await publisher.publish(topic, degrees(96), {
        qos: 1,
        properties: { userProperties: { symbol: 'a' } },
      });
      expect(await received(reader, 1)).toEqual([96]);
      await reader.expectNothing();
    });

    test('with conflate-ms: only messages that fit take the place of others', async () => {
      const topic = unique('t');
      const reader = await door.connect();
      expect((await subscribeWhere(reader, topic, HOT, { 'conflate-ms': '1000' })).codes).toEqual([0]);
      const publisher = await door.connect();
      await publishAll(publisher, topic, [1, 81, 82, 83, 2]);
      expect(await received(reader, 2)).toEqual([81, 83]);
    });

    const alone = notInACluster('a process does not know what others send');
    test('counts what does not fit, and tells the publisher that nobody has it', alone, async () => {
      const topic = unique('t');
      const reader = await door.connect();
      await subscribeWhere(reader, topic, HOT);
      const names = ['delivery.dropped.filter', 'delivery.dropped'] as const;
      const before = await Promise.all(names.map(figure));
      const publisher = await door.connect();
      expect(await publisher.publish(topic, degrees(1), { qos: 1 })).toMatchObject({ reasonCode: 0x10 });
      expect(await publisher.publish(topic, degrees(81), { qos: 1 })).toMatchObject({ reasonCode: 0 });
      const after = await Promise.all(names.map(figure));
      expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 0]);
    });

    test.each([
      ['payload.t >', /^where is no CEL expression over a message: Unexpected token.*, at character 12\.$/],
      ['foo > 1', /^where is no CEL expression over a message: Unknown variable: foo, at character 1\.$/],
      ['topic', /^where has to be true or false/],
      ['topic.matches("a")', /^where has matches\(\)/],
      ['cel.bind(a, payload.s + payload.s, a == "x")', /^where is refused: bind\(\) is not for/],
      ['x'.repeat(1_025), /^where has at most 1024 characters/],
    ])('%s is refused for each filter, with the reason and the place', async (where, reason) => {
      const client = await door.connect();
      const suback = await subscribeWhere(client, ['a', 'b'], where);
      expect(suback).toEqual({ codes: [REFUSED, REFUSED], reason: expect.stringMatching(reason) });
      expect((await client.subscribe('a', { qos: 1 }))[0]).toBe(1);
    });

    test('is refused where a client has twenty others, but not again for one of them', async () => {
      const client = await door.connect();
      const topic = unique('t');
      for (let n = 0; n < 20; n += 1)
        expect((await subscribeWhere(client, `${topic}/${n}`, `payload.t > ${n}`)).codes).toEqual([1]);
      const beyond = await subscribeWhere(client, `${topic}/20`, HOT);
      expect(beyond).toEqual({
        codes: [QUOTA_EXCEEDED],
        reason: expect.stringMatching(/as many conditions/),
      });
      expect((await subscribeWhere(client, `${topic}/3`, HOT)).codes).toEqual([1]);
      await client.unsubscribe(`${topic}/3`);
      expect((await subscribeWhere(client, `${topic}/20`, HOT)).codes).toEqual([1]);
    });
  });

  test(
    'is refused with a reason at a door that grants none',
    onlyAt('gateway', 'the node grants it'),
    async () => {
      const client = await door.connect();
      const suback = await subscribeWhere(client, 't', HOT);
      expect(suback).toEqual({
        codes: [REFUSED],
        reason: expect.stringMatching(/^where is not granted at this door/),
      });
    },
  );
});
