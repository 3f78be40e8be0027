import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBridges, readBridges } from '@apus/bridges';
import {
  BRIDGES_PLACE,
  bridgedNode,
  clientFor,
  collector,
  nodeForTest,
  ruledNode,
  ruleOf,
  statusOf,
  untilConnected,
} from '@apus/bridges/testing';
import { Built } from '@apus/cli/testing';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';
import { kafkaOrSkip } from './kafka-or-skip.ts';
import { type KafkaRecord, kafkaRecords } from './kafka-records.ts';
import { directory, startKillable } from './killable.ts';
import { firstOf, reader } from './load.ts';

const built = new Built();

const kafka = await kafkaOrSkip();
const brokers = [kafka?.address ?? ''];
const { topicWith, producer, produce, consumed } = kafkaRecords(brokers);
const ARRIVAL = { timeout: 60_000, interval: 50 };

function headersOf(record: KafkaRecord | undefined): Record<string, string> {
  const pairs = [...(record?.headers ?? [])].map(([name, value]) => [name.toString(), value.toString()]);
  return Object.fromEntries(pairs);
}

const forwardedOf = async ({ httpUrl }: { readonly httpUrl: string }): Promise<unknown[]> => {
  const answer = await fetch(new URL('/api/v5/bridges', httpUrl));
  const { data } = (await answer.json()) as { readonly data: readonly { in: { forwarded: number } }[] };
  return data.map((each) => each.in.forwarded);
};

/** All that the stream has for a key. */
const logOf = async (url: string, key: string) => {
  const client = await clientFor(url);
  const texts: string[] = [];
  client.on('message', (_topic, payload) => texts.push(payload.toString()));
  await client.subscribeAsync(`prices/${key}`, {
    qos: 1,
    properties: { userProperties: { rewind: '1000' } },
  });
  return texts;
};

const STREAMS = [{ name: 'prices', topicFilter: 'prices/#' }];

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('from Kafka', needs('kafka', kafka), () => {
  const bridged = (topic: string, fields: object = {}, options = {}) =>
    bridgedNode(
      { kafka: { brokers, group: `apus-${topic}` }, in: [{ topic, to: 'prices/{key}', ...fields }] },
      options,
    );

  test('a record is a message: key in the topic, headers as user properties', async () => {
    const topic = await topicWith(1);
    const node = await bridged(topic);
    const { packets } = await collector(node.url, 'prices/#');
    await produce(topic, [{ key: 'EURUSD', value: '1.08', headers: { source: 'x' } }]);
    await expect.poll(() => packets.length, ARRIVAL).toBe(1);
    expect(packets[0]).toMatchObject({ topic: 'prices/EURUSD', qos: 1, payload: Buffer.from('1.08') });
    expect(packets[0]?.properties?.userProperties).toEqual({ source: 'x', 'apus-bridge-hops': '1' });
    await expect.poll(async () => (await statusOf(node)).in).toMatchObject({ forwarded: 1, lag: 0 });
  });

  test('a compacted topic is retained messages: the last value of each key, and none where it was removed', async () => {
    const topic = await topicWith(1);
    await produce(topic, [
      { key: 'a', value: '1' },
      { key: 'b', value: '1' },
      { key: 'a', value: '2' },
      { key: 'b' },
    ]);
    const node = await bridged(topic, { retain: true });
    await expect.poll(async () => (await statusOf(node)).in.forwarded, ARRIVAL).toBe(4);
    const { packets } = await collector(node.url, 'prices/#');
    await expect
      .poll(() => packets.map(({ topic: at, payload }) => [at, payload.toString()]))
      .toEqual([['prices/a', '2']]);
  });

  test('records that cannot become messages are skipped and counted, and the others arrive', async () => {
    const topic = await topicWith(1);
    const node = await bridged(topic);
    const { texts } = await collector(node.url, 'prices/#');
    const bad = [
      { key: Buffer.of(0xc3, 0x28) },
      { key: 'a/+' },
      { key: '#' },
      { key: 'a\0b' },
      {},
      { key: '' },
    ];
    await produce(
      topic,
      bad.map((each) => ({ ...each, value: 'bad' })),
    );
    await produce(topic, [{ key: 'large', value: Buffer.alloc(10_000_000) }]);
    await produce(topic, [{ key: 'good', value: 'good' }]);
    await expect.poll(texts, ARRIVAL).toEqual(['good']);
    expect((await statusOf(node)).in).toMatchObject({ forwarded: 1, skipped: 7 });
  });

  test('the records of each partition arrive in their order at every subscriber', async () => {
    const topic = await topicWith(3);
    const node = await bridged(topic);
    const seen = [await collector(node.url, 'prices/+'), await collector(node.url, '#')];
    const by = producer();
    for (const number of numbers(300))
      await produce(
        topic,
        [0, 1, 2].map((partition) => ({ key: `k${partition}`, value: number, partition })),
        by,
      );
    for (const { packets } of seen) {
      await expect.poll(() => packets.length, ARRIVAL).toBe(900);
      for (const key of ['k0', 'k1', 'k2']) {
        const own = packets.filter(({ topic: at }) => at === `prices/${key}`);
        expect(own.map(({ payload }) => payload.toString())).toEqual(numbers(300));
      }
    }
  });

  test('a broker without room makes the consumer wait, and nothing is lost', async () => {
    const topic = await topicWith(1);
    const node = await bridged(topic, { retain: true }, { retainedMessagesMax: 5 });
    await produce(
      topic,
      numbers(10).map((key) => ({ key, value: key })),
    );
    await expect.poll(async () => (await statusOf(node)).in, ARRIVAL).toMatchObject({ forwarded: 5, lag: 5 });
    expect((await statusOf(node)).last_error).toContain('the limit of 5 retained messages');
    const publisher = await clientFor(node.url);
    for (const key of numbers(5)) await publisher.publishAsync(`prices/${key}`, '', { retain: true, qos: 1 });
    await expect
      .poll(async () => (await statusOf(node)).in, ARRIVAL)
      .toMatchObject({ forwarded: 10, lag: 0 });
    const { texts } = await collector(node.url, '#');
    await expect.poll(() => texts().sort()).toEqual(['5', '6', '7', '8', '9']);
  });

  test('two nodes of one consumer group share the partitions, and a restarted node continues at the committed offsets', async () => {
    const topic = await topicWith(4);
    const [one, other] = [await bridged(topic), await bridged(topic)];
    const seen = [await collector(one.url, '#'), await collector(other.url, '#')];
    await Promise.all([untilConnected(one), untilConnected(other)]);
    const by = producer();
    let sent = 0;
    const sendToEach = async () => {
      const records = [0, 1, 2, 3].map((partition) => ({
        key: `k${partition}`,
        value: String(sent),
        partition,
      }));
      await produce(topic, records, by);
      sent += 1;
    };
    const share = async () => {
      await sendToEach();
      return seen.every(({ packets }) => packets.length > 0);
    };
    await expect.poll(share, ARRIVAL).toBe(true);
    await one.stop();
    for (let more = 0; more < 20; more += 1) await sendToEach();
    // Records whose offsets were not committed when the group was rebalanced arrive twice. None is missing.
    for (const partition of [0, 1, 2, 3]) {
      const valuesAt = ({ packets }: (typeof seen)[number]) =>
        packets
          .filter(({ topic: at }) => at === `prices/k${partition}`)
          .map(({ payload }) => payload.toString());
      const all = () => new Set(seen.flatMap(valuesAt));
      await expect.poll(() => all().size, ARRIVAL).toBe(sent);
      for (const each of seen) {
        const values = [...new Set(valuesAt(each))].map(Number);
        expect(values).toEqual([...values].sort((a, b) => a - b));
      }
    }
  });
});

describe('from Kafka into a stream', needs('kafka', kafka), () => {
  /** A node at which each group reads the topic. */
  const groupsAt = async (topic: string, groups: readonly string[]) => {
    const bridges = groups.map((group) => ({
      name: group,
      kafka: { brokers, group: `${group}-${topic}`, from: 'earliest' },
      in: [{ topic, to: 'prices/{key}' }],
    }));
    return await nodeForTest({
      streams: STREAMS,
      openBridges: openBridges(readBridges({ bridges }, BRIDGES_PLACE)),
    });
  };

  test('a record has one place, however many groups read it, and however late', async () => {
    const topic = await topicWith(2);
    const by = producer();
    const node = await groupsAt(topic, ['one', 'two']);
    for (const number of numbers(50))
      await produce(
        topic,
        [0, 1].map((partition) => ({ key: `k${partition}`, value: number, partition })),
        by,
      );
    // Both have read all of it.
    await expect.poll(async () => await forwardedOf(node), ARRIVAL).toEqual([100, 100]);
    for (const key of ['k0', 'k1']) {
      const texts = await logOf(node.url, key);
      await expect.poll(() => texts, ARRIVAL).toEqual(numbers(50));
    }
  });
});

describe('to Kafka', needs('kafka', kafka), () => {
  const bridged = (topic: string, fields: object = {}, connection: object = {}) =>
    bridgedNode({
      kafka: { brokers, ...connection },
      out: [{ filter: 'orders/+/new', topic, key: '{2}', ...fields }],
    });

  test.each([0, 1, 2] as const)('a message at QoS %i is a record: its key, and its headers', async (qos) => {
    const topic = await topicWith(1);
    const node = await bridged(topic);
    const records = await consumed(topic);
    const properties = { contentType: 'application/json', userProperties: { trace: '7' } };
    await (await clientFor(node.url)).publishAsync('orders/ann/new', '{}', { qos, properties });
    await expect.poll(() => records.length, ARRIVAL).toBe(1);
    expect([records[0]?.key.toString(), records[0]?.value.toString()]).toEqual(['ann', '{}']);
    expect(headersOf(records[0])).toMatchObject({
      'mqtt-topic': 'orders/ann/new',
      'content-type': 'application/json',
      trace: '7',
      'apus-bridge-hops': '1',
    });
  });

  test('messages of other topics stay in the broker, and local subscribers also get those that go to Kafka', async () => {
    const topic = await topicWith(1);
    const node = await bridged(topic);
    const { texts } = await collector(node.url, '#');
    const publisher = await clientFor(node.url);
    await publisher.publishAsync('orders/ann/old', 'stays', { qos: 1 });
    await publisher.publishAsync('orders/ann/new', 'leaves', { qos: 1 });
    await expect.poll(texts).toEqual(['stays', 'leaves']);
    expect((await statusOf(node)).out).toMatchObject({ forwarded: 1 });
  });

  test('its state says at once whether Kafka and its topics exist', async () => {
    const node = await bridged(await topicWith(1));
    await untilConnected(node);
    const without = await bridged(unique('missing'));
    await expect.poll(async () => (await statusOf(without)).status, ARRIVAL).toBe('disconnected');
    expect((await statusOf(without)).last_error).toMatch(/topic/i);
  });

  test('a message that is too large for Kafka is refused (0x97), and the next one is accepted', async () => {
    const topic = await topicWith(1);
    const node = await bridged(topic, {}, { recordBytesMax: 10_000 });
    const publisher = await clientFor(node.url);
    const large = publisher.publishAsync('orders/ann/new', Buffer.alloc(20_000), { qos: 1 });
    await expect(large).rejects.toMatchObject({ code: 0x97 });
    await publisher.publishAsync('orders/ann/new', 'small', { qos: 1 });
    expect((await statusOf(node)).out).toMatchObject({ forwarded: 1, refused: 1 });
  });
});

describe('kill -9 of Kafka', needs('kafka', kafka), () => {
  test('publishers wait while it is away, then are refused (0x97); every acknowledged message is in Kafka, in order', async () => {
    if (kafka === undefined) return;
    const topic = await topicWith(1);
    const node = await bridgedNode({
      kafka: { brokers, waitSeconds: 2 },
      out: [{ filter: 'orders/#', topic }],
    });
    const publisher = await clientFor(node.url);
    const acknowledged: string[] = [];
    const refused: number[] = [];
    const publish = async (number: string) =>
      await publisher.publishAsync('orders/a', number, { qos: 1 }).then(
        () => acknowledged.push(number),
        (error: { readonly code: number }) => refused.push(error.code),
      );
    for (const number of numbers(50)) await publish(number);
    await kafka.kill();
    await publish('away');
    expect(refused).toEqual([0x97]);
    await kafka.start();
    await expect
      .poll(async () => {
        await publish('probe');
        return acknowledged.includes('probe');
      }, ARRIVAL)
      .toBe(true);
    for (const number of numbers(50)) await publish(`again ${number}`);
    const records = await consumed(topic);
    await expect.poll(() => records.at(-1)?.value.toString(), ARRIVAL).toBe('again 49');
    const there = [...new Set(records.map(({ value }) => value.toString()))];
    expect(there.filter((text) => acknowledged.includes(text))).toEqual([...new Set(acknowledged)]);
  });

  test('under load, its records reach subscribers in order', async () => {
    if (kafka === undefined) return;
    const topic = await topicWith(1);
    const node = await bridgedNode({
      kafka: { brokers, group: `apus-${topic}` },
      in: [{ topic, to: 'prices/{key}' }],
    });
    const { texts } = await collector(node.url, 'prices/#');
    const by = producer();
    for (const number of numbers(100)) await produce(topic, [{ key: 'a', value: number }], by);
    await kafka.kill();
    await kafka.start();
    const again = producer();
    for (const number of numbers(100))
      await produce(topic, [{ key: 'a', value: String(100 + Number(number)) }], again);
    await expect.poll(() => new Set(texts()).size, ARRIVAL).toBe(200);
    expect([...new Set(texts())]).toEqual(numbers(200));
  });
});

describe('kill -9 of this broker', needs('kafka', kafka), () => {
  test('repeats records, but in a stream, and loses none, in their order', async () => {
    const topic = await topicWith(1);
    const file = join(directory(), 'bridges.json');
    const bridge = { name: 'kill', kafka: { brokers, group: topic }, in: [{ topic, to: 'prices/{key}' }] };
    writeFileSync(file, JSON.stringify({ bridges: [bridge] }));
    const streams = join(directory(), 'streams.json');
    writeFileSync(streams, JSON.stringify({ streams: STREAMS }));
    const here = await startKillable(built, 10_000, ['--bridges', file, '--streams', streams]);
    const arrived = await reader(here.url, 'prices/#');
    const by = producer();
    for (const number of numbers(200)) {
      await produce(topic, [{ key: 'a', value: number }], by);
      if (number === '100') await here.kill();
    }
    await expect.poll(() => firstOf(arrived, 'prices/a').length, ARRIVAL).toBe(200);
    expect(firstOf(arrived, 'prices/a')).toEqual(numbers(200).map(Number));
    const texts = await logOf(here.url, 'a');
    await expect.poll(() => texts, ARRIVAL).toEqual(numbers(200));
  });
});

describe('a rule to Kafka', needs('kafka', kafka), () => {
  test('writes the messages for which its condition is true, in order, and again when Kafka is back', async () => {
    const topic = await topicWith(1);
    const to = { kafka: { brokers, topic, key: '{2}', waitSeconds: 1 } };
    const when = 'payload.t > 80.0';
    const node = await ruledNode([{ filter: 'hot/+', when, to, attempts: 100, retrySecondsMax: 1 }]);
    const publisher = await clientFor(node.url);
    await publisher.publishAsync('hot/a', '{"t":81}', { qos: 1 });
    await publisher.publishAsync('hot/a', '{"t":79}', { qos: 1 });
    const records = await consumed(topic);
    await expect.poll(() => records.length, ARRIVAL).toBe(1);
    expect(records[0]).toMatchObject({ key: Buffer.from('a'), value: Buffer.from('{"t":81}') });
    await kafka?.kill();
    for (const t of [82, 83, 84]) await publisher.publishAsync('hot/a', `{"t":${t}}`, { qos: 1 });
    await expect.poll(async () => (await ruleOf(node)).status, ARRIVAL).toBe('disconnected');
    await kafka?.start();
    await expect.poll(async () => (await ruleOf(node)).sent, ARRIVAL).toBe(4);
    const after = await consumed(topic);
    const values = () => [...new Set(after.map(({ value }) => value?.toString()))];
    await expect.poll(values, ARRIVAL).toEqual(['{"t":81}', '{"t":82}', '{"t":83}', '{"t":84}']);
  });
});
