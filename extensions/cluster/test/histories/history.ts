import { type MatchedFilter, type Message, readStreams, StreamFeed } from '@apus/broker';
import { FakeScheduler } from '@apus/node/testing';
import { FakeDoor } from '../../../../packages/broker/test/support/fake-door.ts';
import { StateKeeper } from '../../../bridges/src/bridge.ts';
import type { KafkaBridgeConfiguration } from '../../../bridges/src/configuration/kafka.ts';
import { readBridges } from '../../../bridges/src/index.ts';
import { KafkaSource } from '../../../bridges/src/kafka/source.ts';
import { BRIDGES_PLACE } from '../../../bridges/test/support/bridged.ts';
import { KafkaGroup, PARTITIONS } from '../../../bridges/test/support/kafka-group.ts';
import { EVERYWHERE } from '../../src/subscriptions.ts';
import { Publisher, ResumingReader, type Served } from './clients.ts';
import { type Life, SlowEngine, type Without } from './slow-engine.ts';

const TENANT = 'default';
const declared = readStreams(
  [
    { name: 's', topicFilter: 's/#' },
    { name: 'u', topicFilter: 'u/#' },
  ],
  'streams',
);
const KEYS = ['a', 'b'];
const TOPICS = ['s/a', 's/b', 'u/a'];
const [CONFIGURATION] = readBridges(
  { bridges: [{ name: 'b', kafka: { brokers: ['k:9092'] }, in: [{ topic: 't', to: 's/{key}' }] }] },
  BRIDGES_PLACE,
) as readonly [KafkaBridgeConfiguration];
const STEPS = 200;
const PROCESSES = 3;
const ROUNDS_MAX = 2_000;

async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A message on its way from one process to another. */
interface OnItsWay {
  readonly to: Process;
  readonly message: Message;
}

/** A broker over the logs of the engine, and a source of records. */
class Process implements Life, Served {
  isStopped = false;
  isDead = false;
  readonly door: FakeDoor;
  readonly #source: KafkaSource;

  constructor(world: World) {
    const feed = new StreamFeed((tenant, topic) => this.#matchHere(tenant, topic));
    const store = world.engine.storeFor(this);
    this.door = new FakeDoor({
      streams: { declared, store, isShared: true, feed },
      authorizer: { mayPublish: () => world.asks(this), maySubscribe: () => true },
      fanOut: { accept: () => true, hasRoom: () => true, take: (message) => world.hand(this, message) },
      wrap: (stores) => ({ ...stores, subscriptions: withOthers(stores.subscriptions) }),
    });
    const { clock, kafka } = world;
    const log = { info() {}, warn() {}, error() {}, debug() {} };
    const publish = (request: Parameters<FakeDoor['broker']['publish']>[0]) =>
      this.isDead ? new Promise(() => {}) : this.door.broker.publish(request);
    const context = { publish, clock, log, maximumPacketSize: 1e7, topicLevelsMax: 100 } as never;
    const state = new StateKeeper(
      () => 0,
      () => {},
    );
    const open = () => {
      if (this.isDead) throw new Error('the process is dead');
      return kafka.open(this);
    };
    this.#source = new KafkaSource(CONFIGURATION, context, state, open);
    this.#source.start();
  }

  async take(message: Message): Promise<void> {
    if (!this.isDead) await this.door.broker.relay(TENANT, message, this.#matchHere(TENANT, message.topic));
  }

  stop(): void {
    void this.#source.stop();
  }

  #matchHere(tenant: string, topic: string): readonly MatchedFilter[] {
    const matched = this.door.stores.subscriptions.match(tenant, topic) as readonly MatchedFilter[];
    return matched.filter(({ shards = 0 }) => shards === 0);
  }
}

/** Readers of other processes stand behind a shard, as in `ClusterSubscriptions`. */
function withOthers<Store extends FakeDoor['stores']['subscriptions']>(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      if (name !== 'match') return method.bind(target);
      const others = { topicFilter: EVERYWHERE, subscribers: [], shards: 1 };
      return (...args: unknown[]) => [...(method.apply(target, args) as readonly MatchedFilter[]), others];
    },
  });
}

class World {
  readonly clock = new FakeScheduler();
  readonly engine: SlowEngine;
  readonly kafka: KafkaGroup;
  readonly processes: Process[] = [];
  readonly publishers: readonly Publisher[];
  readonly readers = TOPICS.map((topic) => new ResumingReader(topic));
  readonly #onTheirWay: OnItsWay[] = [];
  /** Questions of processes whether a client may publish. */
  readonly #asked: ((may: boolean) => void)[] = [];

  constructor(without: Without) {
    this.engine = new SlowEngine(without);
    this.kafka = new KafkaGroup(without === 'an offset is committed when its record is stored');
    this.publishers = ['p', 'q'].map((name) => new Publisher(name, without));
    while (this.processes.length < PROCESSES) this.join();
  }

  get living(): readonly Process[] {
    return this.processes.filter(({ isDead }) => !isDead);
  }

  join(): void {
    this.processes.push(new Process(this));
  }

  kill(at: number): void {
    const process = this.living[at % this.living.length];
    if (process === undefined) return;
    process.isDead = true;
    this.join();
  }

  stopOrGoOn(at: number): void {
    const process = this.living[at % this.living.length];
    if (process !== undefined) process.isStopped = !process.isStopped;
  }

  /** A hook says who may publish: it answers in any order. */
  asks(process: Process): Promise<boolean> {
    return new Promise((resolve) => void this.#asked.push((may) => void (process.isDead || resolve(may))));
  }

  allow(at: number): void {
    this.#asked.splice(at % Math.max(1, this.#asked.length), 1)[0]?.(true);
  }

  hand(from: Process, message: Message): void {
    if (from.isDead) return;
    for (const to of this.living) if (to !== from) this.#onTheirWay.push({ to, message });
  }

  async carry(at: number): Promise<void> {
    const index = at % Math.max(1, this.#onTheirWay.length);
    const given = this.#onTheirWay[index];
    if (given === undefined || (given.to.isStopped && !given.to.isDead)) return;
    this.#onTheirWay.splice(index, 1);
    await given.to.take(given.message);
  }

  async reconnect(at: number): Promise<void> {
    const { living } = this;
    for (const [index, client] of [...this.publishers, ...this.readers].entries()) {
      const served = living[(at + index) % living.length];
      if (!client.isServed && served !== undefined) await client.connect(served);
    }
  }

  look(): void {
    for (const client of [...this.publishers, ...this.readers]) client.look();
  }

  get isDone(): boolean {
    const produced = this.kafka.partitions.reduce((sum, keys) => sum + keys.length, 0);
    const isRead = this.readers.every(({ topic, seen }) => seen.length >= this.log(topic).length);
    const isPublished = this.publishers.every(({ isDone }) => isDone);
    return isRead && isPublished && this.engine.isIdle && this.kafka.stored >= produced;
  }

  log(topic: string): readonly string[] {
    const tail = this.engine.log.tail(TENANT, declared.covering(topic) as never, topic, 0);
    if (tail === 'full') return [];
    const page = this.engine.log.read(TENANT, topic, tail.epoch, 0, { messages: 1e6, bytes: 1e9 });
    return page === 'lost' ? [] : page.map(({ message }) => Buffer.from(message.payload).toString());
  }

  get problems(): string[] {
    const clients = [...this.publishers, ...this.readers].flatMap(({ problems }) => problems);
    const topics = TOPICS.map((topic) => this.log(topic));
    return [
      ...clients,
      ...(this.isDone ? [] : ['something waits for ever']),
      ...this.readers.flatMap((reader, index) => differences(reader, topics[index] ?? [])),
      ...KEYS.flatMap((key, index) => ofKafka(key, this.kafka, topics[index] ?? [])),
      ...this.publishers.flatMap(({ acknowledged }) => lostOf(acknowledged, topics.flat())),
      ...topics.flatMap((log) => ['p', 'q'].flatMap((name) => disorderOf(name, log))),
    ];
  }
}

function differences({ topic, seen }: ResumingReader, log: readonly string[]): string[] {
  return seen.join() === log.join() ? [] : [`${topic}: read ${seen.join()} instead of ${log.join()}`];
}

function ofKafka(key: string, kafka: KafkaGroup, log: readonly string[]): string[] {
  return kafka.partitions.flatMap((keys, partition) => {
    const wanted = keys.flatMap((each, offset) => (each === key ? `${partition} ${offset}` : []));
    const got = log.filter((each) => each.startsWith(`${partition} `));
    return wanted.join() === got.join() ? [] : [`${key}: ${got.join()} instead of ${wanted.join()}`];
  });
}

function lostOf(acknowledged: readonly string[], logged: readonly string[]): string[] {
  return acknowledged.filter((text) => !logged.includes(text)).map((text) => `lost: ${text}`);
}

/** First messages rise: a repetition of an older one is allowed. */
function disorderOf(name: string, log: readonly string[]): string[] {
  const own = log.filter((text) => text.startsWith(`${name} `)).map((text) => Number(text.slice(2)));
  const first = [...new Set(own)];
  return first.join() === [...first].sort((a, b) => a - b).join() ? [] : [`order: ${name} ${first.join()}`];
}

/** Plays a history, and returns what is wrong at its end. */
export async function history(seed: number, without?: Without): Promise<readonly string[]> {
  let state = seed * 7919 + 17;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const world = new World(without);
  const { engine, kafka, clock, publishers } = world;
  await world.reconnect(0);
  const publish = () => publishers[draw(2)]?.publish(TOPICS[draw(TOPICS.length)] ?? '');
  const steps: readonly (() => unknown)[] = [
    publish,
    () => Array.from({ length: draw(8) }, publish),
    () => kafka.produce(draw(PARTITIONS), KEYS[draw(KEYS.length)] ?? ''),
    () => Array.from({ length: draw(5) }, () => kafka.produce(0, 'a')),
    () => engine.handle(draw(9)),
    () => Array.from({ length: draw(9) }, () => engine.handle(draw(9))),
    () => Array.from({ length: draw(9) }, () => engine.answer(draw(9))),
    () => engine.handle(draw(9), draw(4) === 0 ? (['before', 'after'] as const)[draw(2)] : undefined),
    () => Array.from({ length: draw(9) }, () => world.allow(draw(9))),
    () => world.carry(draw(9)),
    () => world.look(),
    () => clock.advance(200 * draw(6)),
    () => (engine.isFull = draw(3) === 0),
    () => (draw(2) === 0 ? world.stopOrGoOn(draw(PROCESSES)) : undefined),
    () => (draw(6) === 0 ? world.kill(draw(PROCESSES)) : undefined),
    () => world.reconnect(draw(PROCESSES)),
    () => (draw(4) === 0 ? kafka.breakConnection() : undefined),
    () => (draw(2) === 0 ? kafka.rebalance() : undefined),
  ];
  for (let step = 0; step < STEPS; step += 1) {
    await steps[draw(steps.length)]?.();
    await turns();
  }
  engine.isFull = false;
  for (const process of world.living) process.isStopped = false;
  for (let round = 0; round < ROUNDS_MAX && !world.isDone; round += 1) {
    await world.reconnect(round);
    for (let left = 0; left < 20; left += 1) {
      world.allow(0);
      engine.handle(left);
      engine.answer(left);
      await world.carry(0);
    }
    await turns();
    world.look();
    clock.advance(500);
  }
  const { problems } = world;
  for (const process of world.processes) process.stop();
  return problems;
}
