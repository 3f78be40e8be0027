import { type ClockName, clockOf, type MicrosNow, microsBetween } from './clock.ts';
import { Latencies } from './latencies.ts';
import { type FrameCounts, LEDGER_VERSION, type Ledger } from './ledger.ts';
import { readHeader, writeHeader } from './payload-header.ts';
import { Sequence } from './sequence.ts';

/** Streams of one process; the upper bits of a stream's number are the process. */
const STREAMS_PER_WORKER = 2 ** 20;
export const WORKERS_MAX = 2 ** 12;

/** A generator's timers are no finer than a millisecond: a message that is sent within two of its time is on time. */
const ON_TIME_MICROS = 2_000;

/** Messages of a stream: each received one is a bit, and a payload may contain any counter. */
const COUNTER_MAX = 2 ** 26;

export interface RecorderOptions {
  /** The same in all processes of a run, and different from other runs'. */
  readonly runTag: number;
  /** The number of this process among all of the run, including those of other machines, from 0. */
  readonly worker: number;
  readonly clock: ClockName;
}

/** Records the messages of one process: sent, received, and their latencies. */
export class Recorder {
  readonly runTag: number;
  readonly now: MicrosNow;
  readonly connect = new Latencies();
  readonly acknowledge = new Latencies();
  readonly lag = new Latencies();
  readonly delivery = new Latencies();
  #asked = 0;
  #connected = 0;
  lost = 0;
  foreign = 0;
  publishesReceived = 0;
  /** Different messages received, over all subscribers. */
  received = 0;
  sent = 0;
  /** Those of them that the broker has refused: no subscriber should receive them. */
  refused = 0;
  frames: (() => FrameCounts) | undefined;
  firstSentMicros: number | undefined;
  lastSentMicros: number | undefined;
  lastReceivedMicros: number | undefined;
  #firstAskedMicros: number | undefined;
  #lastConnectedMicros: number | undefined;
  readonly #firstStream: number;
  readonly #publishers: Publisher[] = [];
  readonly #subscribers: Subscriber[] = [];
  readonly #problems = new Map<string, number>();
  readonly #cpuBefore = process.cpuUsage();

  constructor({ runTag, worker, clock }: RecorderOptions) {
    if (worker >= WORKERS_MAX) throw new RangeError(`a run has at most ${WORKERS_MAX} processes`);
    this.runTag = runTag;
    this.now = clockOf(clock);
    this.#firstStream = worker * STREAMS_PER_WORKER;
  }

  get asked(): number {
    return this.#asked;
  }

  /** A client begins to connect; the moment is for `connectionMade`. */
  connectionAsked(): number {
    const now = this.now();
    this.#asked += 1;
    this.#firstAskedMicros ??= now;
    return now;
  }

  /** CONNACK has come. Returns how long it took, in microseconds. */
  connectionMade(askedMicros: number): number {
    const now = this.now();
    const micros = microsBetween(askedMicros, now);
    this.#connected += 1;
    this.#lastConnectedMicros = now;
    this.connect.record(micros);
    return micros;
  }

  publisher(topic: string, qos: 0 | 1 | 2, payloadBytes: number): Publisher {
    const stream = this.#firstStream + this.#publishers.length;
    const publisher = new Publisher(this, stream, topic, qos, payloadBytes);
    this.#publishers.push(publisher);
    return publisher;
  }

  subscriber(filters: readonly string[]): Subscriber {
    const subscriber = new Subscriber(this, filters);
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  /** Notes a problem; equal sentences are counted. */
  problem(sentence: string): void {
    this.#problems.set(sentence, (this.#problems.get(sentence) ?? 0) + 1);
  }

  get problems(): ReadonlyMap<string, number> {
    return this.#problems;
  }

  ledger(): Ledger {
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    return {
      version: LEDGER_VERSION,
      runTag: this.runTag,
      published: this.#publishers.map((publisher) => publisher.record()),
      subscribers: this.#subscribers.map((subscriber) => subscriber.record()),
      connections: {
        asked: this.#asked,
        connected: this.#connected,
        lost: this.lost,
        problems: Object.fromEntries(this.#problems),
      },
      foreign: this.foreign,
      publishesReceived: this.publishesReceived,
      latencies: {
        delivery: this.delivery.encode(),
        connect: this.connect.encode(),
        acknowledge: this.acknowledge.encode(),
        lag: this.lag.encode(),
      },
      ...(this.frames !== undefined && { frames: this.frames() }),
      cpuMicroseconds: user + system,
      times: defined({
        firstAskedMicros: this.#firstAskedMicros,
        lastConnectedMicros: this.#lastConnectedMicros,
        firstSentMicros: this.firstSentMicros,
        lastSentMicros: this.lastSentMicros,
        lastReceivedMicros: this.lastReceivedMicros,
      }),
    };
  }
}

/** One client's messages on one topic. */
export class Publisher {
  readonly stream: number;
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  notSent = 0;
  readonly #recorder: Recorder;
  readonly #payloadBytes: number;
  readonly #unacknowledged = new Map<number, number>();
  #sent = 0;

  constructor(recorder: Recorder, stream: number, topic: string, qos: 0 | 1 | 2, payloadBytes: number) {
    this.#recorder = recorder;
    this.stream = stream;
    this.topic = topic;
    this.qos = qos;
    this.#payloadBytes = payloadBytes;
  }

  /**
   * Numbers the next message and stamps its payload with the time at which it was due. If a slow generator or the
   * client's own queue delays it, the delay counts as latency, as it would for a user.
   */
  stamp(payload: Buffer, dueMicros: number, offset = 0): number {
    const recorder = this.#recorder;
    const counter = this.#sent;
    const now = recorder.now();
    const lagMicros = microsBetween(dueMicros, now);
    const atMicros = lagMicros <= ON_TIME_MICROS ? now : dueMicros;
    writeHeader(payload, { runTag: recorder.runTag, stream: this.stream, counter, atMicros }, offset);
    this.#sent += 1;
    recorder.sent += 1;
    recorder.firstSentMicros ??= now;
    recorder.lastSentMicros = now;
    recorder.lag.record(lagMicros);
    if (this.qos > 0) this.#unacknowledged.set(counter, now);
    return counter;
  }

  /** PUBACK or PUBCOMP has come. */
  acknowledged(counter: number): void {
    const sentMicros = this.#unacknowledged.get(counter);
    if (sentMicros === undefined) return;
    this.#unacknowledged.delete(counter);
    this.#recorder.acknowledge.record(microsBetween(sentMicros, this.#recorder.now()));
  }

  record() {
    return {
      stream: this.stream,
      topic: this.topic,
      qos: this.qos,
      payloadBytes: this.#payloadBytes,
      sent: this.#sent,
      unacknowledged: [...this.#unacknowledged.keys()],
      notSent: this.notSent,
    };
  }
}

/** One client's subscriptions. */
export class Subscriber {
  readonly #recorder: Recorder;
  readonly #filters: readonly string[];
  readonly #sequences = new Map<number, Sequence>();

  constructor(recorder: Recorder, filters: readonly string[]) {
    this.#recorder = recorder;
    this.#filters = filters;
  }

  /** A message has come: how long it took in microseconds, or undefined if it is not of this run. */
  take(payload: Buffer, offset = 0): number | undefined {
    const recorder = this.#recorder;
    recorder.publishesReceived += 1;
    const header = readHeader(payload, offset);
    if (header === undefined || header.runTag !== recorder.runTag || header.counter > COUNTER_MAX) {
      recorder.foreign += 1;
      return undefined;
    }
    let sequence = this.#sequences.get(header.stream);
    if (sequence === undefined) {
      sequence = new Sequence();
      this.#sequences.set(header.stream, sequence);
    }
    const before = sequence.received;
    sequence.take(header.counter);
    const now = recorder.now();
    recorder.lastReceivedMicros = now;
    const micros = microsBetween(header.atMicros, now);
    if (sequence.received > before) {
      recorder.received += 1;
      recorder.delivery.record(micros);
    }
    return micros;
  }

  record() {
    return {
      filters: this.#filters,
      streams: [...this.#sequences].map(([stream, sequence]) => ({
        stream,
        seen: sequence.seen(),
        received: sequence.received,
        duplicates: sequence.duplicates,
        outOfOrder: sequence.outOfOrder,
      })),
    };
  }
}

/** Without undefined times, which JSON cannot hold. */
function defined(times: Readonly<Record<keyof Ledger['times'], number | undefined>>): Ledger['times'] {
  return Object.fromEntries(Object.entries(times).filter(([, micros]) => micros !== undefined));
}
