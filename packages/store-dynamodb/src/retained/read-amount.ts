import type { PageLimit } from '@apus/broker';
import { RETAINED_FIRST_ITEMS, RETAINED_GROWTH, RETAINED_ITEMS_MAX } from '../limits.ts';

/**
 * To learn whether there is a next page, one message more than the page has room for is read; but not if it takes more
 * than a read unit: then the next page may be empty.
 */
const CHEAP_BYTES = 4_096;

/**
 * How many items a Query for a page should read, as it is billed by all their bytes: as many as fill the rest of the
 * page, estimated from the last Query. Small messages come in one or two Queries, of large ones no more is read than
 * the page holds, and if few items match, each Query reads several times as many as the one before.
 */
export class ReadAmount {
  readonly #limit: PageLimit;
  /** Items of the last Query. */
  #items: number;
  #isFirst = true;
  #looked = 0;
  #wanted = 0;
  #wantedBytes = 0;
  /** Items that are in the page. */
  #taken = 0;
  #takenBytes = 0;

  /** @param items the estimate from the previous page */
  constructor(limit: PageLimit, items = RETAINED_FIRST_ITEMS) {
    this.#limit = limit;
    this.#items = items;
  }

  /** Items of the next Query. */
  next(): number {
    const { messages, bytes } = this.#limit;
    if (!this.#isFirst) this.#items = this.#expected(messages - this.#taken, bytes - this.#takenBytes);
    this.#isFirst = false;
    this.#looked = 0;
    this.#wanted = 0;
    this.#wantedBytes = 0;
    return this.#items;
  }

  /** An item of the last Query. `bytes` is undefined if it is not wanted. */
  look(bytes: number | undefined): void {
    this.#looked += 1;
    if (bytes === undefined) return;
    this.#wanted += 1;
    this.#wantedBytes += bytes;
  }

  take(bytes: number): void {
    this.#taken += 1;
    this.#takenBytes += bytes;
  }

  /** Whether the next message probably has no room. Asked while there is more to read. */
  isFull(): boolean {
    // Expired ones were read too.
    this.#looked = Math.max(this.#looked, this.#items);
    if (this.#taken === 0) return false;
    const usual = this.#wanted === 0 ? 0 : this.#wantedBytes / this.#wanted;
    return this.#taken >= this.#limit.messages || this.#takenBytes + usual > this.#limit.bytes;
  }

  /** Items of the first Query for the next page. */
  ofNextPage(): number {
    return this.#expected(this.#limit.messages, this.#limit.bytes);
  }

  #expected(messages: number, bytes: number): number {
    const most = Math.min(this.#items * RETAINED_GROWTH, RETAINED_ITEMS_MAX);
    if (this.#wanted === 0) return most;
    const byNumber = Math.ceil((messages * this.#looked) / this.#wanted);
    const byBytes = Math.floor((bytes * this.#looked) / this.#wantedBytes);
    const items = Math.max(1, Math.min(byNumber, byBytes));
    return Math.min(most, this.#wantedBytes / this.#wanted <= CHEAP_BYTES ? items + 1 : items);
  }
}
