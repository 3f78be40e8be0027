import { isExpired, type StreamEntry } from '@apus/broker';
import { bytesOf } from './entry-bytes.ts';
import { NumberedLog } from './numbered-log.ts';

/** Keys of one topic whose last values are kept. Beyond it the oldest value is dropped. */
export const SNAPSHOT_KEYS_MAX = 10_000;

interface Value {
  readonly number: number;
  /** Undefined once it has been removed. */
  entry: StreamEntry | undefined;
}

/** The last value of each key of a topic, whether or not it is still in the topic's history. */
export class StreamValues {
  /** In the order of their numbers. */
  readonly #entries = new Map<string, Value>();
  readonly #log = new NumberedLog<Value>(({ entry }) => entry === undefined);
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Memory of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  has(number: number): boolean {
    for (const value of this.#log.after(number - 1)) return value.number === number;
    return false;
  }

  /**
   * Takes a newer entry. An empty payload deletes its key, as it deletes a retained message. Returns the numbers of
   * entries that are no values any more.
   */
  take(entry: StreamEntry): readonly number[] {
    const { key = '', message } = entry;
    const gone = this.#remove(key);
    if (message.payload.length === 0) return gone;
    this.#entries.set(key, this.#log.append({ number: entry.number, entry }));
    this.#bytes += bytesOf(entry);
    const [oldest] = this.#entries.keys();
    return this.size <= SNAPSHOT_KEYS_MAX || oldest === undefined ? gone : [...gone, ...this.#remove(oldest)];
  }

  /** Drops expired entries from the front: they are no values any more. */
  dropExpired(nowMs: number): readonly number[] {
    const gone: number[] = [];
    for (const [key, { entry }] of this.#entries) {
      if (entry === undefined || !isExpired(entry.message, nowMs)) break;
      gone.push(...this.#remove(key));
    }
    return gone;
  }

  /** Those with a number above `number`, lowest first. */
  *after(number: number, nowMs: number): Generator<StreamEntry, void, undefined> {
    for (const { entry } of this.#log.after(number))
      if (entry !== undefined && !isExpired(entry.message, nowMs)) yield entry;
  }

  #remove(key: string): number[] {
    const value = this.#entries.get(key);
    if (value?.entry === undefined) return [];
    const { entry } = value;
    this.#entries.delete(key);
    value.entry = undefined;
    this.#log.removed();
    this.#bytes -= bytesOf(entry);
    return [value.number];
  }
}
