import type { LoggedMessage, MessageLog } from '../../engine/types.ts';
import {
  SPARK_INTERVAL_MS,
  SPARK_LOOK_BACK_MAX,
  SPARK_PAYLOAD_BYTES_MAX,
  SPARK_SAMPLES_MAX,
  SPARK_TOPICS_MAX,
} from './limits.ts';

interface Spark {
  values: readonly number[];
  sampledAtMs: number;
  /** After this many messages without a number in a row a topic is no longer decoded. */
  misses: number;
}

/** A topic whose messages contain no number is not decoded for ever. */
const MISSES_MAX = 5;

const NONE: readonly number[] = [];

/** The one number of a payload. */
export type NumberOf = (message: LoggedMessage) => number | undefined;

/** The last numbers of the visible topics. For other topics a message only costs a look-up. */
export class Sparks {
  readonly #numberOf: NumberOf;
  readonly #sparks = new Map<string, Spark>();
  readonly #wanted = new Set<string>();

  constructor(numberOf: NumberOf) {
    this.#numberOf = numberOf;
  }

  /** A requested topic is recorded from now on; the next `lookBack` finds earlier values. */
  valuesOf(topic: string): readonly number[] {
    const spark = this.#sparks.get(topic);
    if (spark === undefined) {
      if (this.#wanted.size < SPARK_TOPICS_MAX) this.#wanted.add(topic);
      return NONE;
    }
    // The order of the map is that of the last sight.
    this.#sparks.delete(topic);
    this.#sparks.set(topic, spark);
    return spark.values;
  }

  take(messages: readonly LoggedMessage[]): void {
    if (this.#sparks.size === 0) return;
    for (const message of messages) {
      const spark = message.direction === 'received' ? this.#sparks.get(message.topic) : undefined;
      if (spark === undefined || message.atMs - spark.sampledAtMs < SPARK_INTERVAL_MS) continue;
      spark.sampledAtMs = message.atMs;
      const number = this.#sample(spark, message);
      if (number !== undefined) spark.values = [...spark.values, number].slice(-SPARK_SAMPLES_MAX);
    }
  }

  /**
   * Adds earlier values from the log for topics that have become visible.
   *
   * @returns whether there were such topics, whose lines have to be drawn again
   */
  lookBack(log: MessageLog): boolean {
    if (this.#wanted.size === 0) return false;
    const found = new Map<string, number[]>();
    for (const topic of this.#wanted) {
      found.set(topic, []);
      this.#sparks.set(topic, { values: NONE, sampledAtMs: 0, misses: 0 });
    }
    this.#wanted.clear();
    const oldest = Math.max(log.firstSequence, log.endSequence - SPARK_LOOK_BACK_MAX);
    for (let sequence = log.endSequence - 1; sequence >= oldest && found.size > 0; sequence -= 1) {
      const message = log.at(sequence);
      if (message !== undefined && message.direction === 'received') this.#lookAt(message, found);
    }
    for (const [topic, values] of found) this.#begin(topic, values);
    this.#forgetOldest();
    return true;
  }

  clear(): void {
    this.#sparks.clear();
    this.#wanted.clear();
  }

  #lookAt(message: LoggedMessage, found: Map<string, number[]>): void {
    const { topic } = message;
    const values = found.get(topic);
    const spark = this.#sparks.get(topic);
    if (values === undefined || spark === undefined) return;
    const number = this.#sample(spark, message);
    if (number !== undefined) values.push(number);
    if (values.length < SPARK_SAMPLES_MAX && spark.misses < MISSES_MAX) return;
    this.#begin(topic, values);
    found.delete(topic);
  }

  #begin(topic: string, newestFirst: readonly number[]): void {
    const spark = this.#sparks.get(topic);
    if (spark !== undefined) spark.values = newestFirst.toReversed();
  }

  #sample(spark: Spark, message: LoggedMessage): number | undefined {
    if (spark.misses >= MISSES_MAX || message.payloadLength > SPARK_PAYLOAD_BYTES_MAX) return undefined;
    const number = this.#numberOf(message);
    spark.misses = number === undefined ? spark.misses + 1 : 0;
    return number;
  }

  #forgetOldest(): void {
    for (const topic of this.#sparks.keys()) {
      if (this.#sparks.size <= SPARK_TOPICS_MAX) return;
      this.#sparks.delete(topic);
    }
  }
}
