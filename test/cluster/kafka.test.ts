import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFor, collector } from '@apus/bridges/testing';
import { Built } from '@apus/cli/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { kafkaOrSkip } from '../bridges/kafka-or-skip.ts';
import { kafkaRecords } from '../bridges/kafka-records.ts';
import { directory } from '../bridges/killable.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs, needsAll } from '../support/skips.ts';

const program = engineOrSkip();
const kafka = await kafkaOrSkip();
const brokers = [kafka?.address ?? ''];
const { topicWith, producer, produce, consumed } = kafkaRecords(brokers);
/** The others give a dead process up after five seconds. Kafka needs some more for a dead member of a group. */
const ARRIVAL = { timeout: 120_000, interval: 100 };
const COUNT = 200;
const PARTITIONS = 2;
/** Kafka gives a dead member up after ten seconds, and another two pass until the others know. */
const REBALANCED_MS = 15_000;

/** Records that the bridge of a process has published; undefined while it is not connected to Kafka. */
async function forwardedBy({ pageUrl }: { readonly pageUrl: string }): Promise<number | undefined> {
  const answer = await fetch(`${pageUrl}api/v5/bridges`);
  const { data } = (await answer.json()) as {
    data: readonly [{ status: string; in: { forwarded: number } }];
  };
  return data[0].status === 'connected' ? data[0].in.forwarded : undefined;
}

describe(
  'a bridge to Kafka of two processes',
  needsAll(needs('engine', program), needs('kafka', kafka)),
  () => {
    const built = new Built();

    test('loses no acknowledged message and no record in either direction when the leading process is killed', async () => {
      const [outTopic, inTopic] = [await topicWith(1), await topicWith(PARTITIONS)];
      const path = join(directory(), 'bridges.json');
      const out = [{ filter: 'up/#', topic: outTopic }];
      const bridge = {
        name: 'both',
        kafka: { brokers, group: inTopic },
        out,
        in: [{ topic: inTopic, to: 'down/{key}' }],
      };
      writeFileSync(path, JSON.stringify({ bridges: [bridge] }));
      const engine = await startEngine(program ?? '');
      onTestFinished(() => engine.stop());
      const serve = () => built.serve(['--cluster', engine.url, '--bridges', path]);
      const [leading, other] = [await serve(), await serve()];
      const { texts } = await collector(other.url, 'down/#');
      const acknowledged: string[] = [];
      /** Publishes one message after another. The publisher of a killed process stops there. */
      const publishAt = async (url: string, name: string) => {
        const publisher = await clientFor(url);
        for (let number = 0; number < COUNT; number += 1) {
          const text = `${name} ${number}`;
          await publisher.publishAsync(`up/${name}`, text, { qos: 1 });
          acknowledged.push(text);
        }
      };
      const survivor = publishAt(other.url, 'other');
      void publishAt(leading.url, 'leading').catch(() => {});
      const by = producer();
      for (let number = 0; number < COUNT; number += 1) {
        const partition = number % PARTITIONS;
        await produce(inTopic, [{ key: `k${partition}`, value: String(number), partition }], by);
        if (number === COUNT / 4) await leading.stop('SIGKILL');
      }
      await survivor;
      expect(acknowledged).toContain('leading 0');
      const records = await consumed(outTopic);
      const there = () => new Set(records.map(({ value }) => value.toString()));
      await expect.poll(() => acknowledged.filter((text) => !there().has(text)), ARRIVAL).toEqual([]);
      const arrived = () => new Set(texts().map(Number));
      const wanted = Array.from({ length: COUNT }, (_, number) => number);
      await expect.poll(() => wanted.filter((number) => !arrived().has(number)), ARRIVAL).toEqual([]);
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const ofPartition = [...arrived()].filter((number) => number % PARTITIONS === partition);
        expect(ofPartition).toEqual([...ofPartition].sort((a, b) => a - b));
      }
    });

    test('repeats nothing when the process that reads nothing is killed', async () => {
      const topic = await topicWith(1);
      const path = join(directory(), 'bridges.json');
      const bridge = { name: 'in', kafka: { brokers, group: topic }, in: [{ topic, to: 'down/{key}' }] };
      writeFileSync(path, JSON.stringify({ bridges: [bridge] }));
      const engine = await startEngine(program ?? '');
      onTestFinished(() => engine.stop());
      const serve = () => built.serve(['--cluster', engine.url, '--bridges', path]);
      const members = [await serve(), await serve()];
      const by = producer();
      const values: string[] = [];
      const send = async () => {
        values.push(String(values.length));
        await produce(topic, [{ key: 'k', value: values.at(-1) ?? '' }], by);
      };
      let [before, at]: [(number | undefined)[], number] = [[], -1];
      /** Finds the process of a group of both that has published the last records alone. */
      const look = async () => {
        for (let left = 20; left > 0; left -= 1) await send();
        const now = await Promise.all(members.map(forwardedBy));
        const more = now.map((count, index) => Number(count) - Number(before[index]));
        at = more.includes(0) ? more.findIndex((count) => count >= 20) : -1;
        before = now;
        return at;
      };
      await expect.poll(look, ARRIVAL).toBeGreaterThanOrEqual(0);
      const [reader, idle] = at === 0 ? members : [...members].reverse();
      const { texts } = await collector(reader?.url ?? '', 'down/#');
      const first = values.length;
      await idle?.stop('SIGKILL');
      const endMs = Date.now() + REBALANCED_MS;
      while (Date.now() < endMs) await send();
      const wanted = values.slice(first);
      await expect.poll(texts, ARRIVAL).toContain(wanted.at(-1));
      expect(texts().filter((text) => Number(text) >= first)).toEqual(wanted);
    });
  },
);
