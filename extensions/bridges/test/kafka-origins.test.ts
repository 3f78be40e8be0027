import type { MessageOrigin, PublishRequest } from '@apus/broker';
import { FakeScheduler } from '@apus/node/testing';
import { expect, test } from 'vitest';
import { StateKeeper } from '../src/bridge.ts';
import type { KafkaBridgeConfiguration } from '../src/configuration/kafka.ts';
import { readBridges } from '../src/index.ts';
import { KafkaSource } from '../src/kafka/source.ts';
import { BRIDGES_PLACE } from './support/bridged.ts';

const [CONFIGURATION] = readBridges(
  { bridges: [{ name: 'b', kafka: { brokers: ['k:9092'] }, in: [{ topic: 't', to: 'here/{key}' }] }] },
  BRIDGES_PLACE,
) as readonly [KafkaBridgeConfiguration];

/** One consumer: the ids of the topic that Kafka tells one after another, and offsets of records. */
interface Consumed {
  readonly ids: readonly string[];
  readonly offsets: readonly number[];
}

/** The origins of the messages of all records. Each consumer fails after its last record. */
async function originsOf(consumers: readonly Consumed[]): Promise<(MessageOrigin | undefined)[]> {
  const clock = new FakeScheduler();
  const origins: (MessageOrigin | undefined)[] = [];
  const log = { info() {}, warn() {}, error() {}, debug() {} };
  const publish = ({ origin }: PublishRequest) => {
    origins.push(origin);
    return { messageId: '', outcome: 'delivered' };
  };
  const context = { publish, clock, log, maximumPacketSize: 1e6, topicLevelsMax: 100 } as never;
  const state = new StateKeeper(
    () => 0,
    () => {},
  );
  let opened = 0;
  const open = () => {
    const { ids = ['x'], offsets = [] } = consumers[opened] ?? {};
    opened += 1;
    let asked = 0;
    const records = (async function* () {
      for (const offset of offsets)
        yield { topic: 't', partition: 3, offset: BigInt(offset), key: Buffer.from('k'), headers: new Map() };
      throw new Error('the consumer has failed');
    })();
    return {
      on() {},
      metadata: async () => ({ topics: new Map([['t', { id: ids[Math.min(asked++, ids.length - 1)] }]]) }),
      consume: async () => Object.assign(records, { offsetsToFetch: new Map(), destroy() {} }),
      commit: async () => {},
      close: async () => {},
    } as never;
  };
  const source = new KafkaSource(CONFIGURATION, context, state, open);
  source.start();
  while (opened <= consumers.length) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  void source.stop();
  return origins;
}

const at = (id: string, number: number) => ({ source: `kafka/${id}/3`, number });

test('a record has the same origin at each consumer that is handed it', async () => {
  const same = { ids: ['one'], offsets: [4, 5] };
  expect(await originsOf([same, same])).toEqual([at('one', 4), at('one', 5), at('one', 4), at('one', 5)]);
});

test('a record of a topic that is made anew under its name has another origin', async () => {
  expect(
    await originsOf([
      { ids: ['one'], offsets: [4] },
      { ids: ['two'], offsets: [4] },
    ]),
  ).toEqual([at('one', 4), at('two', 4)]);
});

test('an offset that goes back while the source reads shows that a topic may have been made anew', async () => {
  expect(await originsOf([{ ids: ['one', 'two'], offsets: [4, 0, 1] }])).toEqual([
    at('one', 4),
    at('two', 0),
    at('two', 1),
  ]);
});

test('a record that comes again while the source reads is published once, but that of a topic made anew', async () => {
  const again = { ids: ['one'], offsets: [4, 5, 4, 5, 6, 5, 6, 7] };
  expect(await originsOf([again])).toEqual([4, 5, 6, 7].map((number) => at('one', number)));
  const hole = { ids: ['one'], offsets: [4, 7, 5, 6, 7] };
  expect(await originsOf([hole])).toEqual([4, 7, 5, 6, 7].map((number) => at('one', number)));
  const anew = { ids: ['one', 'one', 'two'], offsets: [4, 5, 4, 5, 6, 0, 1] };
  const ofTwo = [0, 1].map((number) => at('two', number));
  expect(await originsOf([anew])).toEqual([...[4, 5, 6].map((number) => at('one', number)), ...ofTwo]);
});

test('where Kafka has no ids of topics, a record has no origin', async () => {
  const none = '00000000-0000-0000-0000-000000000000';
  expect(await originsOf([{ ids: [none], offsets: [4, 5, 4] }])).toEqual([undefined, undefined, undefined]);
});
