/**
 * Entries by ascending numbers, so that pages have a place to go on from: an entry keeps its place while others come
 * and go, so none is skipped, and new ones come last.
 */
export class NumberedLog<T extends { readonly number: number }> {
  #entries: T[] = [];
  #removed = 0;
  readonly #isRemoved: (entry: T) => boolean;

  constructor(isRemoved: (entry: T) => boolean) {
    this.#isRemoved = isRemoved;
  }

  append(entry: T): T {
    this.#entries.push(entry);
    return entry;
  }

  /** One of its entries is removed now, as `isRemoved` says. */
  removed(): void {
    this.#removed += 1;
    if (this.#removed * 2 > this.#entries.length) this.#compact();
  }

  /** The entries with a number above `number`, lowest first. Valid until one is removed. */
  *after(number: number): Generator<T, void, undefined> {
    for (let index = this.#indexAfter(number); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined && !this.#isRemoved(entry)) yield entry;
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
    this.#entries = this.#entries.filter((entry) => !this.#isRemoved(entry));
    this.#removed = 0;
  }
}
