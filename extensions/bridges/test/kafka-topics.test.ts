import { Readable } from 'node:stream';
import { FakeScheduler } from '@apus/node/testing';
import { expect, onTestFinished, test } from 'vitest';
import { StateKeeper } from '../src/bridge.ts';
import type { KafkaBridgeConfiguration } from '../src/configuration/kafka.ts';
import { readBridges } from '../src/index.ts';
import { KafkaSource } from '../src/kafka/source.ts';
import { BRIDGES_PLACE } from './support/bridged.ts';

/** A source of the topics that Kafka has, and the topics of each consumer so far. */
function sourceOf(list: () => readonly string[], topics = ['*']) {
  const [configuration] = readBridges({ kafka: 'k:9092', topics }, BRIDGES_PLACE) as [
    KafkaBridgeConfiguration,
  ];
  const clock = new FakeScheduler();
  const consumed: (readonly string[])[] = [];
  const states: (string | undefined)[] = [];
  const log = { info() {}, warn() {}, error() {}, debug() {} };
  const context = { publish() {}, clock, log, maximumPacketSize: 1e7, topicLevelsMax: 100 } as never;
  const keeper = new StateKeeper(
    () => 0,
    (_, reason) => states.push(reason),
  );
  const open = () => {
    const stream = new Readable({ objectMode: true, read() {} });
    return {
      on() {},
      metadata: async () => ({ topics: new Map() }),
      consume: async (asked: { topics: readonly string[] }) => {
        consumed.push(asked.topics);
        return stream;
      },
      commit: async () => {},
      close: async () => void stream.push(null),
    } as never;
  };
  const source = new KafkaSource(configuration, context, keeper, open, async () => list());
  source.start();
  onTestFinished(() => void source.stop());
  return { clock, consumed, states };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('topics that come are read within half a minute, and those that were deleted are asked for no more', async () => {
  let topics = ['a', 'b'];
  const { clock, consumed } = sourceOf(() => topics);
  await turns();
  topics = ['a', 'c'];
  clock.advance(29_999);
  await turns();
  expect(consumed).toEqual([['a', 'b']]);
  clock.advance(1);
  await turns();
  clock.advance(1_000);
  await turns();
  expect(consumed).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
});

test('topics that only leave end no consumer', async () => {
  let topics = ['a', 'b'];
  const { clock, consumed } = sourceOf(() => topics);
  await turns();
  topics = ['a'];
  for (let times = 0; times < 3; times += 1) {
    clock.advance(30_000);
    await turns();
  }
  expect(consumed).toEqual([['a', 'b']]);
});

test('names and beginnings of names choose, and a thousand are the most', async () => {
  const chosen = sourceOf(() => ['prices', 'prices-2', 'orders-eu', 'orders'], ['prices', 'orders-*']);
  const many = sourceOf(() => Array.from({ length: 1_001 }, (_, index) => `t${index}`));
  await turns();
  expect(chosen.consumed).toEqual([['prices', 'orders-eu']]);
  expect(many.consumed).toEqual([]);
  expect(many.states.join()).toContain('Kafka has more than 1000 such topics');
});
