import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const KEEPS_FIVE = { name: 'few', topicFilter: 'few/#', messagesMax: 5 };

const OPTIONS = {
  streams: [
    { name: 'chat', topicFilter: 'chat/#', key: 'user' },
    KEEPS_FIVE,
    { name: 'prices', topicFilter: 'prices/+', snapshot: true, key: 'symbol' },
    { name: 'board', topicFilter: 'board/+', snapshot: true, key: 'symbol', messagesMax: 2 },
    { name: 'one', topicFilter: 'one' },
  ],
};

type Properties = Readonly<Record<string, string | string[]>>;

interface Suback {
  readonly code: number;
  readonly properties: Properties;
  readonly reason: string | undefined;
}

/** SUBSCRIBE with user properties, and what SUBACK says. */
async function read(client: TestClient, filter: string, userProperties: Properties = {}): Promise<Suback> {
  const messageId = client.nextPacketId();
  const subscriptions = [{ topic: filter, qos: 1 }];
  const asked = Object.keys(userProperties).length === 0 ? {} : { properties: { userProperties } };
  client.raw.send({ cmd: 'subscribe', messageId, subscriptions, ...asked });
  const suback = await client.take('suback', messageId);
  const properties = (suback.properties ?? {}) as {
    userProperties?: Record<string, string | string[]>;
    reasonString?: string;
  };
  return {
    code: (suback.granted as number[])[0] ?? -1,
    properties: { ...properties.userProperties },
    reason: properties.reasonString,
  };
}

/** `payload`, and the kind where it is not live. */
function summary(message: Message): string {
  const kind = propertiesOf(message)['stream-kind'];
  return kind === undefined ? message.payload : `${message.payload} ${kind}`;
}

function propertiesOf({ properties }: Message): Record<string, string> {
  return { ...((properties.userProperties ?? {}) as Record<string, string>) };
}

function positionOf(message: Message): string {
  return propertiesOf(message)['stream-position'] ?? '';
}

const numberOf = (position: string): number => Number(position.split('-')[1]);

describe(withOptions('A stream'), NEEDS_OWN_DOOR, () => {
  const door = useDoor(OPTIONS);

  async function publishAll(topic: string, payloads: readonly string[]): Promise<void> {
    const publisher = await door.connect();
    for (const payload of payloads) await publisher.publish(topic, payload, { qos: 1 });
  }

  const summaries = async (client: TestClient, count: number) =>
    (await client.receiveMany(count)).map(summary);

  test('numbers the messages of each topic from 1, with their time and key, for plain subscribers too', async () => {
    const [room, other] = [unique('chat/r'), unique('chat/r')];
    const subscriber = await door.connect();
    await subscriber.subscribe('chat/#', { qos: 1 });
    const publisher = await door.connect();
    const userProperties = { user: 'ann', 'stream-position': 'forged-9', ts: '1', mood: 'good' };
    await publisher.publish(room, 'a', { qos: 1, properties: { userProperties } });
    await publisher.publish(other, 'b', { qos: 1 });
    await publisher.publish(room, 'c', { qos: 0 });
    const [a, b, c] = [await subscriber.receive(), await subscriber.receive(), await subscriber.receive()];
    expect([a, b, c].map((each) => numberOf(positionOf(each)))).toEqual([1, 1, 2]);
    expect(propertiesOf(a)).toMatchObject({ key: 'ann', user: 'ann', mood: 'good' });
    expect(Number(propertiesOf(a).ts)).toBeGreaterThan(1_700_000_000_000);
    expect(propertiesOf(a)['stream-kind']).toBeUndefined();
    expect(propertiesOf(b).key).toBeUndefined();
    expect(positionOf(a).split('-')[0]).toBe(positionOf(c).split('-')[0]);
  });

  test('answers a publisher with success, also where there is no subscriber', async () => {
    const publisher = await door.connect();
    expect(await publisher.publish(unique('chat/r'), 'a', { qos: 1 })).toMatchObject({ reasonCode: 0 });
    expect(await publisher.publish(unique('elsewhere'), 'a', { qos: 1 })).toMatchObject({ reasonCode: 0x10 });
  });

  test('takes messages of MQTT 3.1.1 clients and sends them plain ones, and refuses them $stream/NAME', async () => {
    const room = unique('chat/r');
    const old = await door.connect311();
    await old.subscribe(room, { qos: 1 });
    await old.publish(room, 'a', { qos: 1 });
    expect(await old.receive()).toMatchObject({ payload: 'a' });
    expect(await old.subscribe('$stream/chat')).toEqual([0x80]);
  });

  describe('read with rewind', () => {
    test('by a number gives the last messages, then live ones', async () => {
      const room = unique('chat/r');
      await publishAll(room, ['1', '2', '3']);
      const reader = await door.connect();
      const suback = await read(reader, room, { rewind: '2' });
      expect(suback).toMatchObject({ code: 0, properties: { 'stream-recovered': 'true' } });
      expect(numberOf(String(suback.properties['stream-position']))).toBe(3);
      expect(numberOf(String(suback.properties['stream-after']))).toBe(1);
      await publishAll(room, ['4']);
      expect(await summaries(reader, 3)).toEqual(['2 historical', '3 historical', '4']);
      await reader.expectNothing();
    });

    test('by a time gives the messages since then', async () => {
      const room = unique('chat/r');
      await publishAll(room, ['1', '2']);
      const reader = await door.connect();
      await read(reader, `$stream/chat/${room}`, { rewind: '5m' });
      expect(await summaries(reader, 2)).toEqual(['1 historical', '2 historical']);
    });

    test('takes the place of retained messages', async () => {
      const room = unique('chat/r');
      await (await door.connect()).publish(room, 'kept', { qos: 1, retain: true });
      const reader = await door.connect();
      await read(reader, room, { rewind: '5' });
      expect(await summaries(reader, 1)).toEqual(['kept historical']);
      await reader.expectNothing();
    });

    test('over a wildcard gives that number of messages for each topic', async () => {
      const room = unique('chat/r');
      await publishAll(`${room}/a`, ['1', '2']);
      await publishAll(`${room}/b`, ['3', '4']);
      const reader = await door.connect();
      const suback = await read(reader, `$s/chat/${room}/+`, { rewind: '1' });
      expect(suback.properties['stream-position']).toHaveLength(2);
      const afters = [suback.properties['stream-after'] ?? []].flat().map((each) => each.split(' '));
      expect(afters.map(([position = '', topic]) => [topic, numberOf(position)]).sort()).toEqual([
        [`${room}/a`, 1],
        [`${room}/b`, 1],
      ]);
      expect((await summaries(reader, 2)).sort()).toEqual(['2 historical', '4 historical']);
    });
  });

  describe('read from an offset', () => {
    test('earliest gives everything that is kept, in the order of numbers', async () => {
      const topic = unique('few/t');
      await publishAll(topic, ['1', '2', '3', '4', '5', '6', '7']);
      const reader = await door.connect();
      await read(reader, topic, { 'stream-offset': 'earliest' });
      const received = await reader.receiveMany(5);
      expect(received.map(summary)).toEqual(['3', '4', '5', '6', '7'].map((each) => `${each} historical`));
      expect(received.map((each) => numberOf(positionOf(each)))).toEqual([3, 4, 5, 6, 7]);
    });

    test('latest, and $stream/NAME alone, give live messages only', async () => {
      const room = unique('chat/r');
      await publishAll(room, ['old']);
      const [one, other] = [await door.connect(), await door.connect()];
      await read(one, room, { 'stream-offset': 'latest' });
      await read(other, `$stream/chat/${room}`);
      await publishAll(room, ['new']);
      expect(await summaries(one, 1)).toEqual(['new']);
      expect(await summaries(other, 1)).toEqual(['new']);
    });

    test('of a time before the oldest kept message reports that messages may be missing', async () => {
      const topic = unique('few/t');
      const startMs = Date.now();
      await publishAll(topic, ['1']);
      const whole = await read(await door.connect(), topic, { 'stream-offset': String(startMs) });
      expect(whole.properties['stream-recovered']).toBe('true');
      await publishAll(topic, ['2', '3', '4', '5', '6']);
      const reader = await door.connect();
      const part = await read(reader, topic, { 'stream-offset': new Date(startMs).toISOString() });
      expect(part.properties['stream-recovered']).toBe('false');
      expect(await summaries(reader, 1)).toEqual(['2 historical']);
    });
  });

  describe('resumed from a position', () => {
    test('gives the missed messages, each once', async () => {
      const room = unique('chat/r');
      const before = await door.connect();
      await before.subscribe(room);
      await publishAll(room, ['1', '2']);
      const [first] = await before.receiveMany(2);
      before.raw.close();
      await publishAll(room, ['3']);
      const reader = await door.connect();
      const suback = await read(reader, room, { 'stream-position': positionOf(first as Message) });
      expect(suback.properties['stream-recovered']).toBe('true');
      await publishAll(room, ['4']);
      expect(await summaries(reader, 3)).toEqual(['2 recovered', '3 recovered', '4']);
      await reader.expectNothing();
    });

    test('of an empty topic gives the messages since then', async () => {
      const room = unique('chat/r');
      const suback = await read(await door.connect(), room, { 'stream-offset': 'latest' });
      const position = String(suback.properties['stream-position']);
      expect(numberOf(position)).toBe(0);
      expect(suback.properties['stream-after']).toBeUndefined();
      await publishAll(room, ['1']);
      const reader = await door.connect();
      const resumed = await read(reader, room, { 'stream-position': position });
      expect(resumed.properties['stream-recovered']).toBe('true');
      expect(await summaries(reader, 1)).toEqual(['1 recovered']);
    });

    test('that is too old, of another epoch or of the future is not recovered: it gives the last value', async () => {
      const topic = unique('few/t');
      const suback = await read(await door.connect(), topic, { 'stream-offset': 'latest' });
      const [epoch = ''] = String(suback.properties['stream-position']).split('-');
      await publishAll(topic, ['1', '2', '3', '4', '5', '6', '7']);
      for (const position of [`${epoch}-1`, 'another-7', `${epoch}-8`]) {
        const reader = await door.connect();
        const resumed = await read(reader, topic, { 'stream-position': position });
        expect(resumed).toMatchObject({ code: 0, properties: { 'stream-recovered': 'false' } });
        expect(numberOf(String(resumed.properties['stream-after']))).toBe(6);
        expect(await summaries(reader, 1)).toEqual(['7 snapshot']);
        await reader.expectNothing();
      }
      const reader = await door.connect();
      const resumed = await read(reader, topic, { 'stream-position': `${epoch}-2` });
      expect(resumed.properties['stream-recovered']).toBe('true');
      expect(await summaries(reader, 5)).toHaveLength(5);
    });

    test('for each topic of a wildcard, and all of a topic that has begun since', async () => {
      const room = unique('chat/r');
      await publishAll(`${room}/a`, ['a1', 'a2']);
      const suback = await read(await door.connect(), `${room}/#`, { 'stream-offset': 'latest' });
      const position = String(suback.properties['stream-position']);
      await publishAll(`${room}/a`, ['a3']);
      await publishAll(`${room}/b`, ['b1']);
      const reader = await door.connect();
      const resumed = await read(reader, `${room}/#`, { 'stream-position': position });
      expect(resumed.properties['stream-recovered']).toBe('true');
      expect((await summaries(reader, 2)).sort()).toEqual(['a3 recovered', 'b1 recovered']);
    });
  });

  describe('with a snapshot', () => {
    test('gives newcomers the last value of each key', async () => {
      const topic = unique('prices/p');
      const publisher = await door.connect();
      for (const [symbol, price] of [
        ['x', '1'],
        ['y', '2'],
        ['x', '3'],
        ['z', '4'],
        ['z', ''],
      ] as const) {
        const properties = { userProperties: { symbol } };
        await publisher.publish(topic, price, { qos: 1, properties });
      }
      const reader = await door.connect();
      await read(reader, `$stream/prices/${topic}`);
      expect(await summaries(reader, 2)).toEqual(['2 snapshot', '3 snapshot']);
      await publishAll(topic, ['5']);
      expect(await summaries(reader, 1)).toEqual(['5']);
    });

    test('gives values whose messages history has dropped, and goes on behind the newest of them', async () => {
      const topic = unique('board/p');
      const publisher = await door.connect();
      const publishAs = (symbol: string, price: string) =>
        publisher.publish(topic, price, { qos: 1, properties: { userProperties: { symbol } } });
      for (const [symbol, price] of [
        ['x', '1'],
        ['y', '2'],
        ['y', '3'],
        ['y', '4'],
        ['z', '5'],
      ] as const)
        await publishAs(symbol, price);
      const before = await door.connect();
      await read(before, topic, { 'stream-offset': 'earliest' });
      expect(await summaries(before, 2)).toEqual(['4 historical', '5 historical']);
      const reader = await door.connect();
      const suback = await read(reader, `$stream/board/${topic}`);
      expect(numberOf(String(suback.properties['stream-after']))).toBe(0);
      const received = await reader.receiveMany(3);
      expect(received.map(summary)).toEqual(['1 snapshot', '4 snapshot', '5 snapshot']);
      expect(received.map((each) => numberOf(positionOf(each)))).toEqual([1, 4, 5]);
      reader.raw.close();
      await publishAs('x', '6');
      const again = await door.connect();
      // As a reader in order says it: it has seen all up to there.
      const [epoch, number] = positionOf(received[2] as Message).split('-');
      const resumed = await read(again, topic, { 'stream-position': `${epoch}-${number}` });
      expect(resumed.properties['stream-recovered']).toBe('true');
      expect(await summaries(again, 1)).toEqual(['6 recovered']);
    });
  });

  describe('and a reader', () => {
    test('on a connection that has ended is not sent live messages before it reads again', async () => {
      const room = unique('chat/r');
      const clientId = unique('c');
      const before = await door.resume(clientId);
      await read(before, room, { 'stream-offset': 'latest' });
      before.raw.close();
      const after = await door.resume(clientId);
      expect(after.connack.sessionPresent).toBe(true);
      await publishAll(room, ['1']);
      await after.expectNothing();
      await read(after, room, { 'stream-offset': 'earliest' });
      expect(await summaries(after, 1)).toEqual(['1 historical']);
    });

    test('is one subscription with the plain filter: UNSUBSCRIBE by either name ends it', async () => {
      const room = unique('chat/r');
      const reader = await door.connect();
      await read(reader, `$stream/chat/${room}`, { rewind: '1' });
      expect(await reader.unsubscribe(room)).toEqual([0]);
      await read(reader, room, { rewind: '1' });
      expect(await reader.unsubscribe(`$stream/chat/${room}`)).toEqual([0]);
      await publishAll(room, ['1']);
      await reader.expectNothing();
    });

    test('with No Local is not sent its own messages, live or from history', async () => {
      const room = unique('chat/r');
      const reader = await door.connect();
      await reader.publish(room, 'mine', { qos: 1 });
      const messageId = reader.nextPacketId();
      reader.raw.send({
        cmd: 'subscribe',
        messageId,
        subscriptions: [{ topic: room, qos: 0, nl: true }],
        properties: { userProperties: { rewind: '10' } },
      });
      await reader.take('suback', messageId);
      await reader.publish(room, 'mine too', { qos: 1 });
      await publishAll(room, ['yours']);
      expect(await summaries(reader, 1)).toEqual(['yours']);
    });
  });

  describe('refuses', () => {
    const refusals: readonly [string, string, Properties, number, RegExp][] = [
      ['a name that there is not', '$stream/unknown', {}, 0x8f, /no stream "unknown"/],
      ['a filter outside the stream', '$stream/chat/other/+', {}, 0x8f, /matches topics that/],
      ['the past of topics that no stream keeps', 'nothing/#', { rewind: '1' }, 0x8f, /no stream keeps/],
      ['the past of more topics than the stream has', '#', { rewind: '1' }, 0x8f, /no stream keeps/],
      ['a rewind that is none', 'one', { rewind: 'soon' }, 0x83, /rewind takes/],
      ['a rewind of nothing', 'one', { rewind: '0' }, 0x83, /rewind takes/],
      ['an offset that is none', 'one', { 'stream-offset': 'newest' }, 0x83, /stream-offset takes/],
      ['a position that is none', 'one', { 'stream-position': '17' }, 0x83, /stream-position takes/],
      ['a bare position for a wildcard', 'chat/#', { 'stream-position': 'abc-1' }, 0x83, /covers one topic/],
      ['two beginnings', 'one', { rewind: '1', 'stream-offset': 'earliest' }, 0x83, /exclude each other/],
      ['a shared subscription', '$share/g/chat/a', { rewind: '1' }, 0x8f, /no stream keeps/],
    ];
    for (const [what, filter, properties, code, reason] of refusals) {
      test(`${what}, with 0x${code.toString(16)} and a reason`, async () => {
        const suback = await read(await door.connect(), filter, properties);
        expect(suback.code).toBe(code);
        expect(suback.reason).toMatch(reason);
      });
    }

    test('the past of two filters in one SUBSCRIBE, as SUBACK has one list of user properties', async () => {
      const client = await door.connect();
      const messageId = client.nextPacketId();
      client.raw.send({
        cmd: 'subscribe',
        messageId,
        subscriptions: [
          { topic: 'one', qos: 0 },
          { topic: 'chat/a', qos: 0 },
        ],
        properties: { userProperties: { rewind: '1' } },
      });
      expect((await client.take('suback', messageId)).granted).toEqual([0x83, 0x83]);
    });

    test('to send a client more positions than its Maximum Packet Size, and sends none then [MQTT-3.1.2-24]', async () => {
      const room = unique('chat/r');
      for (const topic of Array.from({ length: 30 }, (_, index) => `${room}/${index}`))
        await publishAll(topic, ['1']);
      const client = await door.connect({ properties: { maximumPacketSize: 1_500 } });
      const suback = await read(client, `${room}/+`, { 'stream-offset': 'latest' });
      expect(suback).toMatchObject({ code: 0, properties: {} });
      const other = await read(await door.connect(), `${room}/+`, { 'stream-offset': 'latest' });
      expect(other.properties['stream-position']).toHaveLength(30);
    });

    test('the past to a client that wants no problem information [MQTT-3.1.2-29]', async () => {
      const client = await door.connect({ properties: { requestProblemInformation: false } });
      expect((await read(client, 'one', { rewind: '1' })).code).toBe(0x83);
    });
  });
});

describe(withOptions('A broker without streams'), NEEDS_OWN_DOOR, () => {
  const door = useDoor();

  test('refuses $stream/NAME, and ignores the user properties of SUBSCRIBE', async () => {
    const client = await door.connect();
    expect((await read(client, '$stream/chat')).code).toBe(0x8f);
    const topic = unique('t');
    expect((await read(client, topic, { rewind: '50' })).code).toBe(1);
    await client.publish(topic, 'a', { qos: 1 });
    const { properties } = await client.receive();
    expect(properties.userProperties).toBeUndefined();
  });
});
