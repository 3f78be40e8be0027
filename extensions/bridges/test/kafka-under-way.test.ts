import { Readable } from 'node:stream';
import { type PublishReceipt, type PublishRequest, reasonOf } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { FakeScheduler } from '@apus/node/testing';
import { expect, onTestFinished, test } from 'vitest';
import { StateKeeper } from '../src/bridge.ts';
import type { KafkaBridgeConfiguration } from '../src/configuration/kafka.ts';
import { readBridges } from '../src/index.ts';
import { KafkaSource } from '../src/kafka/source.ts';
import { UnderWay } from '../src/kafka/under-way.ts';
import { BRIDGES_PLACE } from './support/bridged.ts';

const [CONFIGURATION] = readBridges(
  { bridges: [{ name: 'b', kafka: { brokers: ['k:9092'] }, in: [{ topic: 't', to: '{key}' }] }] },
  BRIDGES_PLACE,
) as readonly [KafkaBridgeConfiguration];

type Answer = PublishReceipt | Violation;

interface Published {
  readonly name: string;
  readonly behind: number | undefined;
  /** Its stream has been asked to append it. */
  asked(): void;
  answer(answer: Answer): void;
  fail(): void;
}

const STORED: PublishReceipt = { messageId: '', outcome: 'delivered' };
const NO_ROOM = new Violation(ReasonCode.QuotaExceeded, 'no room');

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A source that has been handed these keys of one partition. The test answers what it publishes. */
class Stage {
  readonly clock = new FakeScheduler();
  readonly published: Published[] = [];
  readonly committed: number[] = [];
  readonly errors: string[] = [];
  /** The partitions of the consumer. */
  readonly assignments = [{ topic: 't', partitions: [0] }];
  readonly source: KafkaSource;
  readonly #listeners = new Map<string, () => void>();
  readonly #streams: Readable[] = [];
  readonly #records: object[] = [];
  #offset = 0;

  constructor() {
    const log = { info() {}, warn() {}, error() {}, debug() {} };
    const publish = ({ topic, payload, origin, ordered }: PublishRequest) =>
      new Promise<Answer>((resolve, reject) => {
        const fail = () => reject(new Error('the disk is full'));
        const asked = () => ordered?.asked();
        const name = `${topic} ${Buffer.from(payload)}`;
        this.published.push({ name, behind: origin?.behind, asked, answer: resolve, fail });
      });
    const context = { publish, clock: this.clock, log, maximumPacketSize: 1e7, topicLevelsMax: 100 } as never;
    const state = new StateKeeper(
      () => 0,
      () => {},
    );
    const open = () => {
      const stream = Object.assign(new Readable({ objectMode: true, read() {} }), {
        offsetsToFetch: new Map(),
      });
      stream.on('error', (error) => this.errors.push(reasonOf(error)));
      this.#streams.push(stream);
      return {
        assignments: this.assignments,
        on: (name: string, listener: () => void) => this.#listeners.set(name, listener),
        metadata: async () => ({ topics: new Map([['t', { id: 'one' }]]) }),
        consume: async () => stream,
        commit: async ({ offsets }: { offsets: { offset: bigint }[] }) => {
          for (const { offset } of offsets) this.committed.push(Number(offset));
        },
        close: async () => void stream.push(null),
      } as never;
    };
    this.source = new KafkaSource(CONFIGURATION, context, state, open);
    this.source.start();
    onTestFinished(() => void this.source.stop());
  }

  async take(...keys: readonly string[]): Promise<void> {
    await turns();
    for (const key of keys) {
      const value = Buffer.from(String(this.#offset));
      const offset = BigInt(this.#offset++);
      const record = { topic: 't', partition: 0, offset, key: Buffer.from(key), value, headers: new Map() };
      this.#records.push(record);
      this.#streams.at(-1)?.push(record);
    }
    await turns();
  }

  /** Kafka hands the records from an offset on over once more, as after a rebalance. */
  async again(from: number): Promise<void> {
    for (const record of this.#records.slice(from)) this.#streams.at(-1)?.push(record);
    await turns();
  }

  /** Answers the oldest message of the name that waits. */
  async answer(name: string, answer: Answer = STORED): Promise<void> {
    this.#taken(name)?.answer(answer);
    await turns();
  }

  async ask(name: string): Promise<void> {
    this.published.find((each) => each.name === name)?.asked();
    await turns();
  }

  async fail(name: string): Promise<void> {
    this.#taken(name)?.fail();
    await turns();
  }

  #taken(name: string): Published | undefined {
    const at = this.published.findIndex((each) => each.name === name);
    expect(at, `${name} is published`).toBeGreaterThanOrEqual(0);
    return this.published.splice(at, 1)[0];
  }

  async after(ms: number): Promise<void> {
    this.clock.advance(ms);
    await turns();
  }

  async emit(event: string): Promise<void> {
    this.#listeners.get(event)?.();
    await turns();
  }

  get names(): readonly string[] {
    return this.published.map(({ name }) => name);
  }
}

test('records of many topics are under way together, and those of one go one after another', async () => {
  const stage = new Stage();
  await stage.take('a', 'b', 'a', 'c');
  expect(stage.names).toEqual(['a 0', 'b 1', 'c 3']);
  await stage.answer('a 0');
  expect(stage.names).toEqual(['b 1', 'c 3', 'a 2']);
});

test('a record that the broker has no room for is overtaken by none of its topic', async () => {
  const stage = new Stage();
  await stage.take('a', 'b', 'a');
  await stage.answer('a 0', NO_ROOM);
  await stage.answer('b 1');
  expect(stage.names).toEqual([]);
  await stage.after(200);
  expect(stage.names).toEqual(['a 0']);
  await stage.answer('a 0');
  expect(stage.names).toEqual(['a 2']);
});

test('records of one topic are under way together, each behind the one before, while their stream is asked', async () => {
  const stage = new Stage();
  await stage.take('a', 'a', 'a');
  await stage.ask('a 0');
  await stage.ask('a 1');
  expect(stage.published.map(({ behind }) => behind)).toEqual([undefined, 0, 1]);
  // The second is not in the log, as the first is not.
  await stage.answer('a 1', NO_ROOM);
  await stage.answer('a 2', NO_ROOM);
  await stage.answer('a 0', NO_ROOM);
  await stage.after(200);
  expect(stage.names).toEqual(['a 0']);
  await stage.answer('a 0');
  expect(stage.published).toMatchObject([{ name: 'a 1', behind: undefined }]);
  await stage.answer('a 1');
  await stage.answer('a 2');
  await stage.after(500);
  expect(stage.committed).toEqual([3]);
});

test('no offset is committed behind a record that is not stored', async () => {
  const stage = new Stage();
  await stage.take('a', 'b', 'c');
  await stage.answer('c 2');
  await stage.after(500);
  expect(stage.committed).toEqual([]);
  await stage.answer('a 0');
  await stage.after(500);
  expect(stage.committed).toEqual([1]);
  await stage.answer('b 1');
  await stage.after(500);
  await stage.after(500);
  expect(stage.committed).toEqual([1, 3]);
});

test('what is stored is committed before others begin with the partitions, and before it stops', async () => {
  const stage = new Stage();
  await stage.take('a', 'b');
  await stage.answer('a 0');
  await stage.emit('consumer:group:rebalance');
  expect(stage.committed).toEqual([1]);
  const stopping = stage.source.stop();
  await stage.answer('b 1');
  await stopping;
  expect(stage.committed).toEqual([1, 2]);
});

test('nothing is committed for a partition that another member has', async () => {
  const stage = new Stage();
  await stage.take('a');
  stage.assignments.splice(0);
  await stage.answer('a 0');
  await stage.after(500);
  expect(stage.committed).toEqual([]);
});

test('a rebalance repeats no record that this member has taken, stored or under way, and commits behind all', async () => {
  const stage = new Stage();
  await stage.take('a', 'b', 'a', 'c');
  await stage.answer('a 0');
  await stage.again(0);
  await stage.take('d');
  await stage.again(3);
  expect(stage.names).toEqual(['b 1', 'c 3', 'a 2', 'd 4']);
  for (const name of stage.names) await stage.answer(name);
  await stage.after(500);
  expect(stage.names).toEqual([]);
  expect(stage.committed.at(-1)).toBe(5);
});

test('a message that is not stored for long does not keep the source from leaving', async () => {
  const stage = new Stage();
  await stage.take('a', 'b');
  await stage.answer('a 0');
  const stopping = stage.source.stop();
  await turns();
  expect(stage.committed).toEqual([]);
  await stage.after(2_000);
  expect(stage.committed).toEqual([1]);
  await stage.answer('b 1');
  await stopping;
});

test('at most 256 records are under way', async () => {
  const stage = new Stage();
  await stage.take(...Array.from({ length: 300 }, (_, index) => `k${index}`));
  expect(stage.names.length).toBe(256);
  await stage.answer('k7 7');
  expect(stage.names.length).toBe(256);
  expect(stage.names).toContain('k256 256');
});

test('what is under way has a limit of bytes, and a larger record goes alone', async () => {
  const underWay = new UnderWay(10, 100, () => {});
  const stored: (() => void)[] = [];
  const publish = () => new Promise<boolean>((resolve) => stored.push(() => resolve(true)));
  let taken = 0;
  const take = (name: string, bytes: number) =>
    underWay.take({ topic: 't', partition: 0, offset: 0n, bytes }, name, publish).then(() => {
      taken += 1;
    });
  await take('a', 60);
  void take('b', 500);
  await turns();
  expect(taken).toBe(1);
  stored[0]?.();
  await turns();
  expect(taken).toBe(1);
  stored[1]?.();
  await turns();
  expect(taken).toBe(2);
});

test('a message that cannot be stored ends the consumer at once, and none of its topic overtakes it', async () => {
  const stage = new Stage();
  await stage.take('a', 'a', 'b');
  await stage.fail('a 0');
  expect(stage.errors).toEqual(['the disk is full']);
  await stage.answer('b 2');
  expect(stage.names).toEqual([]);
  await stage.after(1_000);
  await stage.take('c');
  expect(stage.names).toEqual(['c 3']);
  await stage.answer('c 3');
  await stage.after(500);
  // The second consumer was handed the fourth record alone.
  expect(stage.committed).toEqual([4]);
});
