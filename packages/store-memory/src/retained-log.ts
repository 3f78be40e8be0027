import type { Message } from '@apus/broker';

/** The retained message of one topic. */
export interface RetainedEntry {
  /** Ascending in the order in which topics were first retained. It stays while the topic is retained. */
  readonly number: number;
  /** Undefined once it has been removed. */
  message: Message | undefined;
  /** `quotaHolderKey` of the client that published it. */
  holder: string | undefined;
}

/**
 * Retained messages by their numbers, so that pages have a place to go on from: an entry keeps its place while others
 * come and go, so none is skipped, and new ones come last.
 */
export class RetainedLog {
  #entries: RetainedEntry[] = [];
  #removed = 0;
  #lastNumber = 0;

  append(message: Message, holder: string | undefined): RetainedEntry {
    this.#lastNumber += 1;
    const entry = { number: this.#lastNumber, message, holder };
    this.#entries.push(entry);
    return entry;
  }

  remove(entry: RetainedEntry): void {
    entry.message = undefined;
    this.#removed += 1;
    if (this.#removed * 2 > this.#entries.length) this.#compact();
  }

  /** The entries with a number above `number`, lowest first. Valid until one is removed. */
  *after(number: number): Generator<RetainedEntry, void, undefined> {
    for (let index = this.#indexAfter(number); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry?.message !== undefined) yield entry;
    }
  }

  #indexAfter(number: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.number ?? 0) <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    this.#entries = this.#entries.filter(({ message }) => message !== undefined);
    this.#removed = 0;
  }
}
