import { reasonOf } from '@apus/broker';
import type { BridgesContext } from '@apus/node';
import { ProduceAcks, Producer, type ProducerOptions } from '@platformatic/kafka';
import type { StateKeeper } from '../bridge.ts';
import type { KafkaConnection } from '../configuration/kafka.ts';
import { connectionOptions } from './connection.ts';
import { type OutgoingRecord, recordBytes } from './record.ts';

/** Most records that wait for Kafka, and most bytes. Above it publishers are refused at once. */
export const WAITING_MAX = 10_000;
export const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** Most records in one call. */
const BATCH_MAX = 500;
const BATCH_BYTES_MAX = 900_000;
/** The time until the next attempt after Kafka did not take a batch. */
const RETRY_MS = 300;
/** The time until the next check whether Kafka answers. */
const LOOK_MS = 2_000;

/** The parts of a process that a sink uses. */
export interface SinkContext {
  readonly clock: Pick<BridgesContext['clock'], 'now' | 'after'>;
  readonly log: BridgesContext['log'];
}

/** A cluster, and the topics that the sink writes to. */
export interface SinkConfiguration extends KafkaConnection {
  readonly out: readonly { readonly topic: string }[];
}

export type SinkProducer = Producer<Buffer, Buffer, Buffer, Buffer>;
export type OpenProducer = (options: ProducerOptions<Buffer, Buffer, Buffer, Buffer>) => SinkProducer;

interface Waiting {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  /** Absent if no publisher waits. */
  readonly finish: ((isTaken: boolean) => void) | undefined;
  /** The broker has refused the message of its publisher. */
  isGivenUp: boolean;
}

/** Writes records to Kafka in the order in which they came: one call at a time, with all records that wait. */
export class KafkaSink {
  readonly #configuration: SinkConfiguration;
  readonly #context: SinkContext;
  readonly #state: StateKeeper;
  #producer: Producer<Buffer, Buffer, Buffer, Buffer> | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isSending = false;
  #isStopped = false;

  readonly #openProducer: OpenProducer;

  constructor(
    configuration: SinkConfiguration,
    context: SinkContext,
    state: StateKeeper,
    openProducer: OpenProducer = (options) => new Producer(options),
  ) {
    this.#openProducer = openProducer;
    this.#configuration = configuration;
    this.#context = context;
    this.#state = state;
  }

  /** Checks whether Kafka and its topics are there, before the first message needs them. */
  async start(): Promise<void> {
    const topics = [...new Set(this.#configuration.out.map(({ topic }) => topic))];
    while (!this.#isStopped && this.#state.state !== 'connected') {
      const producer = new Producer(connectionOptions(this.#configuration));
      try {
        await producer.metadata({ topics });
        if (!this.#isStopped) this.#state.set('connected');
      } catch (error) {
        if (!this.#isStopped) this.#state.set('disconnected', reasonOf(error));
      }
      await Promise.resolve(producer.close()).catch(() => {});
      if (this.#state.state === 'disconnected') await this.#after(LOOK_MS);
    }
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether there is room for the record. */
  takes(record: OutgoingRecord): boolean {
    const bytes = recordBytes(record);
    if (this.#isStopped || bytes > this.#configuration.recordBytesMax) return false;
    return this.#waiting.length < WAITING_MAX && this.#waitingBytes + bytes <= WAITING_BYTES_MAX;
  }

  /** True when Kafka has the record on all replicas that it requires; false if it did not in time. */
  send(record: OutgoingRecord): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isTaken: boolean): void => {
        cancel();
        resolve(isTaken);
      };
      const each: Waiting = { record, bytes: recordBytes(record), finish, isGivenUp: false };
      const cancel = this.#context.clock.after(this.#configuration.waitSeconds * 1000, () => {
        each.isGivenUp = true;
        resolve(false);
      });
      this.#add(each);
    });
  }

  /** Adds the record of a publisher that does not wait. */
  post(record: OutgoingRecord): void {
    this.#add({ record, bytes: recordBytes(record), finish: undefined, isGivenUp: false });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { finish } of this.#waiting) finish?.(false);
    this.#waiting = [];
    await this.#discard();
  }

  #add(each: Waiting): void {
    this.#waiting.push(each);
    this.#waitingBytes += each.bytes;
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0 && !this.#isStopped) {
      this.#forgetRefused();
      const batch = this.#batch();
      if (batch.length > 0) await this.#sendBatch(batch);
    }
    this.#isSending = false;
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#produce(batch);
      this.#state.set('connected');
      this.#remove(batch);
      for (const { finish } of batch) finish?.(true);
    } catch (error) {
      if (this.#isStopped) return;
      this.#state.set('disconnected', reasonOf(error));
      // After a failure the sequence numbers of an idempotent producer may not fit any more.
      await this.#discard();
      await this.#after(RETRY_MS);
    }
  }

  async #produce(batch: readonly Waiting[]): Promise<void> {
    this.#producer ??= this.#openProducer({
      ...connectionOptions(this.#configuration),
      idempotent: true,
      acks: ProduceAcks.ALL,
      autocreateTopics: false,
    });
    await this.#producer.send({ messages: batch.map(({ record }) => record) });
  }

  #batch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const each of this.#waiting) {
      if (batch.length === BATCH_MAX || (batch.length > 0 && bytes + each.bytes > BATCH_BYTES_MAX)) break;
      batch.push(each);
      bytes += each.bytes;
    }
    return batch;
  }

  #forgetRefused(): void {
    this.#remove(this.#waiting.filter(({ isGivenUp }) => isGivenUp));
  }

  #remove(some: readonly Waiting[]): void {
    if (some.length === 0) return;
    const gone = new Set(some);
    for (const { bytes } of some) this.#waitingBytes -= bytes;
    this.#waiting = this.#waiting.filter((each) => !gone.has(each));
  }

  #after(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(delayMs, resolve));
  }

  async #discard(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close().catch(() => {});
  }
}
