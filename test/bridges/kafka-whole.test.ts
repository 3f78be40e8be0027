import { openBridges, readBridges } from '@apus/bridges';
import { BRIDGES_PLACE, collector, nodeForTest, statusOf } from '@apus/bridges/testing';
import type { LogEntry } from '@apus/node';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';
import { kafkaOrSkip } from './kafka-or-skip.ts';
import { kafkaRecords } from './kafka-records.ts';

const kafka = await kafkaOrSkip();
const address = kafka?.address ?? '';
const { topicWith, produce } = kafkaRecords([address]);
const ARRIVAL = { timeout: 60_000, interval: 50 };
/** The key of MQTT's longest topic has some bytes less. */
const LONG_KEY_BYTES = 65_536;

describe('a file that says only where Kafka is', needs('kafka', kafka), () => {
  test('takes every topic in as TOPIC/KEY, but those that it does not name; what is no topic of MQTT is counted and said', async () => {
    const [one, two] = [await topicWith(2), await topicWith(1)];
    const other = await topicWith(1);
    const skipped: LogEntry[] = [];
    const bridges = readBridges({ kafka: address, topics: [one, `${two.slice(0, -1)}*`] }, BRIDGES_PLACE).map(
      (bridge) => ({ ...bridge, group: unique('group') }),
    );
    const node = await nodeForTest({
      openBridges: openBridges(bridges),
      streams: [{ name: 'values', topicFilter: `${two}/+`, snapshot: true }],
      logLevel: 'warn',
      logSink: (entry: LogEntry) => {
        if (entry.event === 'bridge-record-skipped') skipped.push(entry);
      },
    });
    const { packets } = await collector(node.url, '#');
    const bad = [
      ...['a/+', '#', 'a\0b', '', 'x'.repeat(LONG_KEY_BYTES)].map((key) => ({ key })),
      { key: Buffer.of(0xc3, 0x28) },
      {},
    ];
    await produce(two, [...bad.map((each) => ({ ...each, value: 'bad' })), { key: 'v', value: '1' }]);
    await produce(one, [
      { key: 'EUR/USD', value: 'a', partition: 0 },
      { key: 'k', value: 'b', partition: 1 },
    ]);
    await produce(other, [{ key: 'k', value: 'of no interest' }]);
    const texts = () => packets.map(({ topic, payload }) => `${topic} ${payload}`).sort();
    const wanted = [`${one}/EUR/USD a`, `${one}/k b`, `${two}/v 1`].sort();
    await expect.poll(texts, ARRIVAL).toEqual(wanted);
    expect((await statusOf(node)).in).toMatchObject({ forwarded: 3, skipped: bad.length });
    expect(skipped.map(({ fields }) => `${fields.topic} ${fields.partition} ${fields.offset}`)).toEqual(
      bad.map((_, offset) => `${two} 0 ${offset}`),
    );
    // A record without a value removes the value of the snapshot.
    await produce(two, [{ key: 'w', value: '2' }, { key: 'v' }]);
    await expect.poll(() => packets.length, ARRIVAL).toBe(5);
    const late = await collector(node.url, '$stream/values');
    await expect.poll(() => late.packets.map(({ payload }) => String(payload)), ARRIVAL).toEqual(['2']);
  });
});
