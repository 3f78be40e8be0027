import { isExpired, type StreamEntry } from '@apus/broker';
import { bytesOf } from './entry-bytes.ts';

/** Keys of one topic whose last values are kept. Beyond it the oldest value is dropped. */
export const SNAPSHOT_KEYS_MAX = 10_000;

/** The last value of each key of a topic, whether or not it is still in the topic's history. */
export class StreamValues {
  /** In the order of their numbers. */
  readonly #entries = new Map<string, StreamEntry>();
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Memory of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  has({ key = '', number }: StreamEntry): boolean {
    return this.#entries.get(key)?.number === number;
  }

  /**
   * Takes a newer entry. An empty payload deletes its key, as it deletes a retained message. Returns the entries that
   * are no values any more.
   */
  take(entry: StreamEntry): readonly StreamEntry[] {
    const { key = '', message } = entry;
    const gone = this.#remove(key);
    if (message.payload.length === 0) return gone;
    this.#entries.set(key, entry);
    this.#bytes += bytesOf(entry);
    const [oldest] = this.#entries.keys();
    return this.size <= SNAPSHOT_KEYS_MAX || oldest === undefined ? gone : [...gone, ...this.#remove(oldest)];
  }

  /** Drops expired entries from the front: they are no values any more. */
  dropExpired(nowMs: number): readonly StreamEntry[] {
    const gone: StreamEntry[] = [];
    for (const [key, { message }] of this.#entries) {
      if (!isExpired(message, nowMs)) break;
      gone.push(...this.#remove(key));
    }
    return gone;
  }

  all(nowMs: number): StreamEntry[] {
    return [...this.#entries.values()].filter(({ message }) => !isExpired(message, nowMs));
  }

  #remove(key: string): StreamEntry[] {
    const entry = this.#entries.get(key);
    if (entry === undefined) return [];
    this.#entries.delete(key);
    this.#bytes -= bytesOf(entry);
    return [entry];
  }
}
