import type { PublishReceipt, PublishRequest } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { FakeScheduler } from '@apus/node/testing';
import { expect, test } from 'vitest';
import { StateKeeper } from '../src/bridge.ts';
import type { KafkaBridgeConfiguration } from '../src/configuration/kafka.ts';
import { readBridges } from '../src/index.ts';
import { KafkaSource } from '../src/kafka/source.ts';
import { BRIDGES_PLACE } from './support/bridged.ts';
import { KafkaGroup, PARTITIONS } from './support/kafka-group.ts';

const [CONFIGURATION] = readBridges(
  { bridges: [{ name: 'b', kafka: { brokers: ['k:9092'] }, in: [{ topic: 't', to: '{key}' }] }] },
  BRIDGES_PLACE,
) as readonly [KafkaBridgeConfiguration];

const KEYS = ['a', 'b', 'c'];
const STEPS = 120;
const SEEDS = 25;
const STORED: PublishReceipt = { messageId: '', outcome: 'delivered' };
const NO_ROOM = new Violation(ReasonCode.QuotaExceeded, 'no room');

/** Protections that a history runs without. */
type Without = 'behind' | 'origin' | 'commit of stored records only' | undefined;

async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** An engine that takes the appends of all processes one after another, when the history lets it. */
class Engine {
  /** What was appended to each topic: `PARTITION OFFSET`. */
  readonly logs = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  readonly #last = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  readonly #without: Without;
  isFull = false;
  /** Answers that get lost: their process takes the message for failed. */
  lost = 0;

  constructor(without: Without) {
    this.#without = without;
  }

  publish({ topic, origin, ordered }: PublishRequest): Promise<PublishReceipt | Violation> {
    ordered?.asked();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        const answer = this.#append(topic, origin);
        if (this.lost === 0) return resolve(answer);
        this.lost -= 1;
        reject(new Error('the engine is away'));
      });
    });
  }

  handle(count: number): void {
    for (const append of this.#waiting.splice(0, count)) append();
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** As the script of the cluster's streams. */
  #append(topic: string, origin: PublishRequest['origin']): PublishReceipt | Violation {
    if (origin === undefined) throw new Error('the record has no origin');
    const { source, number, behind } = origin;
    const name = `${topic} ${source}`;
    const last = this.#last.get(name) ?? -1;
    if (number <= last && this.#without !== 'origin') return STORED;
    if (behind !== undefined && last < behind && this.#without !== 'behind') return NO_ROOM;
    if (this.isFull) return NO_ROOM;
    this.#last.set(name, number);
    this.logs.get(topic)?.push(`${source.slice(-1)} ${number}`);
    return STORED;
  }
}

/** Runs a history, and returns what is wrong with the logs at its end. */
async function history(seed: number, without?: Without): Promise<string[]> {
  let state = seed * 7919 + 17;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const [engine, kafka, clock] = [
    new Engine(without),
    new KafkaGroup(without === 'commit of stored records only'),
    new FakeScheduler(),
  ];
  const log = { info() {}, warn() {}, error() {}, debug() {} };
  const publish = (request: PublishRequest) => engine.publish(request);
  const context = { publish, clock, log, maximumPacketSize: 1e7, topicLevelsMax: 100 } as never;
  const sources: KafkaSource[] = [];
  const join = (): void => {
    const keeper = new StateKeeper(
      () => 0,
      () => {},
    );
    const source = new KafkaSource(CONFIGURATION, context, keeper, () => kafka.open());
    source.start();
    sources.push(source);
  };
  const steps: readonly (() => unknown)[] = [
    () => kafka.produce(draw(PARTITIONS), KEYS[draw(KEYS.length)] ?? ''),
    () => kafka.produce(draw(PARTITIONS), 'a'),
    () => kafka.produce(0, 'a'),
    () => engine.handle(1 + draw(3)),
    () => engine.handle(draw(30)),
    () => clock.advance(200),
    () => clock.advance(draw(2) * 1_000),
    () => (engine.isFull = draw(2) === 0),
    // The partitions go to another process, while this one still works.
    () => (draw(4) === 0 ? join() : undefined),
    () => (draw(4) === 0 ? kafka.breakConnection() : undefined),
    () => (draw(2) === 0 ? kafka.rebalance() : undefined),
    () => (engine.lost = draw(6) === 0 ? 1 : 0),
  ];
  join();
  for (let step = 0; step < STEPS; step += 1) {
    steps[draw(steps.length)]?.();
    await turns();
  }
  [engine.isFull, engine.lost] = [false, 0];
  const produced = kafka.partitions.reduce((sum, keys) => sum + keys.length, 0);
  for (let round = 0; round < 300 && (kafka.stored < produced || !engine.isIdle); round += 1) {
    engine.handle(100);
    await turns();
    clock.advance(500);
    await turns();
  }
  const problems = KEYS.flatMap((key) => problemsOf(key, kafka, engine.logs.get(key) ?? []));
  if (kafka.stored < produced) problems.push(`only ${kafka.stored} of ${produced} are committed`);
  for (const source of sources) void source.stop();
  return problems;
}

function problemsOf(key: string, kafka: KafkaGroup, log: readonly string[]): string[] {
  return kafka.partitions.flatMap((keys, partition) => {
    const wanted = keys.flatMap((each, offset) => (each === key ? `${partition} ${offset}` : []));
    const got = log.filter((each) => each.startsWith(`${partition} `));
    return wanted.join() === got.join() ? [] : [`${key}: ${got.join()} instead of ${wanted.join()}`];
  });
}

test('a stream gets each record of Kafka once and in order, through rebalances, a full and a slow engine, and lost answers', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) expect(await history(seed), `seed ${seed}`).toEqual([]);
});

test.each(['behind', 'origin', 'commit of stored records only'] as const)(
  'histories find that it is left out: %s',
  async (without) => {
    for (let seed = 1; seed <= SEEDS; seed += 1) if ((await history(seed, without)).length > 0) return;
    expect.fail('no history has found it');
  },
);
