import { readBridges } from '@apus/bridges';
import {
  type Failure,
  type KafkaBridgeConfiguration,
  KafkaSink,
  KafkaSource,
  Lane,
  StateKeeper,
} from '@apus/bridges/testing';
import {
  type Message,
  type PublishReceipt,
  type PublishRequest,
  readStreams,
  type StreamDeclaration,
} from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { BridgesContext } from '@apus/node';
import { FakeScheduler } from '@apus/node/testing';
import { createMemoryStores } from '@apus/store-memory';
import { seededRandom } from '../draws.ts';
import { FakeKafka, type Life, turn } from './fake-kafka.ts';

const KEYS = ['k0', 'k1', 'k2'];
const COUNT = 40;
const TICK_MS = 50;
/** Until a message is durable at the broker. */
const WRITE_MS = 6 * TICK_MS;
/** Turns of the event loop: some minutes of simulated time. */
const TURNS_WITH_FAULTS = 1_500;
const TURNS_MAX = 30_000;
const TURNS_OF_A_LIFE = 120;

export interface Outcome {
  /** Empty if every promise was kept. */
  readonly problems: readonly string[];
  readonly faults: number;
  readonly deaths: number;
}

const numbers = Array.from({ length: COUNT }, (_, index) => String(index));
const [CONFIGURATION] = readBridges(
  {
    bridges: [
      {
        ...{ name: 'k', kafka: { brokers: ['k:9092'], waitSeconds: 1 } },
        in: [{ topic: 't', to: 'here/{key}' }],
        out: [{ filter: 'there/#', topic: 't' }],
      },
    ],
  },
  { where: 'history', directory: '.', environment: {}, nowMs: 0 },
) as readonly KafkaBridgeConfiguration[];

class World {
  readonly random: () => number;
  readonly clock = new FakeScheduler();
  readonly kafka: FakeKafka;
  deaths = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.kafka = new FakeKafka(this.random);
  }

  context(publish: BridgesContext['publish']): BridgesContext {
    const log = { info() {}, warn() {}, error() {}, debug() {} };
    return { publish, clock: this.clock, log, maximumPacketSize: 1e6, topicLevelsMax: 100 } as never;
  }

  state(): StateKeeper {
    return new StateKeeper(
      () => this.clock.now(),
      () => {},
    );
  }

  /** Processes follow each other while faults strike; the last one runs until all messages have arrived. */
  async live(start: (life: Life) => void, isDone: () => boolean): Promise<void> {
    let life: Life | undefined;
    for (let turns = 0; turns < TURNS_MAX; turns += 1) {
      const hasFaults = turns < TURNS_WITH_FAULTS;
      this.kafka.hasFaults = hasFaults;
      this.kafka.isAway = hasFaults && turns % 400 > 330;
      if (life === undefined || (hasFaults && this.random() < 1 / TURNS_OF_A_LIFE)) {
        if (life !== undefined) {
          life.isOver = true;
          this.deaths += 1;
        }
        life = { isOver: false };
        start(life);
      }
      await turn();
      this.clock.advance(TICK_MS);
      if (!hasFaults && isDone()) break;
    }
    if (life !== undefined) life.isOver = true;
  }

  outcome(problems: readonly string[]): Outcome {
    return { problems, faults: this.kafka.faults, deaths: this.deaths };
  }
}

/** Finds the numbers that are missing, and the first that is out of order. */
function problemsOf(name: string, arrived: readonly string[], wanted: readonly string[]): readonly string[] {
  const first = [...new Set(arrived)];
  const missing = wanted.filter((number) => !first.includes(number));
  if (missing.length > 0) return [`${name}: lost ${missing.join(' ')}`];
  const isOrdered = first.every((number, index) => index === 0 || Number(number) > Number(first[index - 1]));
  return isOrdered ? [] : [`${name}: order ${first.join(' ')}`];
}

/** Finds the numbers that are missing, come twice, or stand out of order. */
function differenceOf(
  name: string,
  arrived: readonly string[],
  wanted: readonly string[],
): readonly string[] {
  if (wanted.some((number) => !arrived.includes(number))) return problemsOf(name, arrived, wanted);
  return arrived.join() === wanted.join() ? [] : [`${name}: not once ${arrived.join(' ')}`];
}

const [STREAM] = readStreams([{ name: 's', topicFilter: 'here/#' }], 'streams').all as [StreamDeclaration];

/**
 * Records of Kafka reach the broker, which sometimes has no room, and appends messages to a stream some time later.
 *
 * @param flaw a protection that is missing
 */
export async function sourceHistory(seed: number, flaw?: 'answers early' | 'no origin'): Promise<Outcome> {
  const world = new World(seed);
  const durable = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  const log = createMemoryStores().streamStore;
  for (const number of numbers)
    for (const key of KEYS) world.kafka.append('t', Buffer.from(key), Buffer.from(number));
  const publishing = (life: Life) => (request: PublishRequest) => {
    // An engine of a cluster says so later.
    const isLate = world.random() < 0.5;
    const isRefused = world.kafka.hasFaults && world.random() < 0.1;
    const noRoom = new Violation(ReasonCode.QuotaExceeded, 'no room');
    if (isRefused && !isLate) return noRoom;
    const receipt: PublishReceipt = { messageId: '', outcome: 'delivered' };
    const written = new Promise<PublishReceipt | Violation>((resolve) => {
      world.clock.after(WRITE_MS, () => {
        if (life.isOver) return;
        if (isRefused) return resolve(noRoom);
        const { topic, payload, origin } = request;
        const options = { key: undefined, nowMs: world.clock.now(), isForced: false };
        const message = { id: '1', topic, payload, qos: 1, retain: false, properties: {} } as Message;
        const appended = log.append('', STREAM, message, {
          ...options,
          origin: flaw === 'no origin' ? undefined : origin,
        });
        if (typeof appended !== 'string' && appended.isFound !== true)
          durable.get(topic.slice('here/'.length))?.push(Buffer.from(payload).toString());
        resolve(receipt);
      });
    });
    return flaw === 'answers early' ? receipt : written;
  };
  const start = (life: Life): void => {
    const open = () => world.kafka.consumer(life);
    new KafkaSource(CONFIGURATION as never, world.context(publishing(life)), world.state(), open).start();
  };
  await world.live(start, () => KEYS.every((key) => new Set(durable.get(key)).size === COUNT));
  return world.outcome(KEYS.flatMap((key) => differenceOf(key, durable.get(key) ?? [], numbers)));
}

/** Publishers send a number when the one before is answered, and again when it is refused or no answer comes. */
export async function sinkHistory(seed: number): Promise<Outcome> {
  const world = new World(seed);
  const acknowledged = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  const publishAll = async (sink: KafkaSink, life: Life, key: string): Promise<void> => {
    const own = acknowledged.get(key) ?? [];
    while (!life.isOver && own.length < COUNT) {
      const value = String(own.length);
      const record = { topic: 't', key: Buffer.from(key), value: Buffer.from(value), headers: new Map() };
      const isTaken = sink.takes(record) && (await sink.send(record));
      if (!life.isOver && isTaken) own.push(value);
      await turn();
    }
  };
  const start = (life: Life): void => {
    const open = () => world.kafka.producer(life);
    const context = world.context(() => new Violation(ReasonCode.QuotaExceeded, ''));
    const sink = new KafkaSink(CONFIGURATION as never, context, world.state(), open);
    for (const key of KEYS) void publishAll(sink, life, key);
  };
  await world.live(start, () => KEYS.every((key) => acknowledged.get(key)?.length === COUNT));
  const unfinished = KEYS.filter((key) => acknowledged.get(key)?.length !== COUNT);
  return world.outcome([
    ...unfinished.map((key) => `${key}: stuck`),
    ...KEYS.flatMap((key) => problemsOf(key, world.kafka.values(key), acknowledged.get(key) ?? [])),
  ]);
}

/** Messages of a queue that outlives the process, through the lanes of a rule, to a target like Kafka. */
export async function ruleHistory(seed: number): Promise<Outcome> {
  const world = new World(seed);
  const waiting = numbers.flatMap((number) => KEYS.map((key) => ({ key, number, isDone: false })));
  const dead = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  const targetOf = (life: Life) => {
    const producer = world.kafka.producer(life);
    return {
      ...{ type: 'fake', remote: 'fake', stop: async () => {} },
      batch: { messagesMax: 5, bytesMax: 1e6, isPartial: false },
      async send(messages: readonly { topic: string; payload: Uint8Array }[]): Promise<Failure | undefined> {
        const records = messages.map(({ topic, payload }) => ({
          ...{ topic: 't', key: Buffer.from(topic), value: Buffer.from(payload), headers: new Map() },
        }));
        try {
          await producer.send({ messages: records as never });
          return undefined;
        } catch (error) {
          return { messages: messages as never, error: String(error), isPermanent: false };
        }
      },
    };
  };
  const start = (life: Life): void => {
    const handlers = {
      ...{ sent() {}, failed() {} },
      dead: async ({ topic, payload }: { topic: string; payload: Uint8Array }) => {
        await turn();
        if (!life.isOver) dead.get(topic)?.push(Buffer.from(payload).toString());
        return !life.isOver;
      },
    };
    const retry = { attempts: 4, firstDelayMs: 100, delayMsMax: 1_000 };
    const lanes = [0, 1].map(() => new Lane(targetOf(life), retry, handlers, world.clock));
    for (const each of waiting.filter(({ isDone }) => !isDone)) {
      const message = { topic: each.key, payload: Buffer.from(each.number), properties: {} } as never;
      const done = (): void => {
        if (!life.isOver) each.isDone = true;
      };
      lanes[Number(each.key.at(-1)) % 2]?.add({ message, done });
    }
  };
  await world.live(start, () => waiting.every(({ isDone }) => isDone));
  return world.outcome(
    KEYS.flatMap((key) => {
      const given = dead.get(key) ?? [];
      const arrived = world.kafka.values(key);
      const lost = numbers.filter((number) => !arrived.includes(number) && !given.includes(number));
      const isAcknowledged = (number: string) =>
        waiting.find((each) => each.key === key && each.number === number)?.isDone;
      const problems = problemsOf(key, arrived, []);
      return [...problems, ...lost.filter(isAcknowledged).map((number) => `${key}: lost ${number}`)];
    }),
  );
}
