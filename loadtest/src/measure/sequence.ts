const FIRST_BYTES = 16;

/** One subscriber's messages of one stream: the received counters, how often, and in which order. */
export class Sequence {
  #seen = new Uint8Array(FIRST_BYTES);
  /** The highest counter received; -1 before the first. */
  highest = -1;
  /** Different counters received. */
  received = 0;
  duplicates = 0;
  /** Messages that came after a later one of their stream. */
  outOfOrder = 0;

  take(counter: number): void {
    if (this.has(counter)) {
      this.duplicates += 1;
      return;
    }
    this.#set(counter);
    this.received += 1;
    if (counter < this.highest) this.outOfOrder += 1;
    else this.highest = counter;
  }

  has(counter: number): boolean {
    return ((this.#seen[counter >> 3] ?? 0) & (1 << (counter & 7))) !== 0;
  }

  /** The received counters: their number if none is missing from 0 on, otherwise a bit for each, in base64. */
  seen(): SeenCounters {
    if (this.received === this.highest + 1) return this.received;
    return Buffer.from(this.#seen.subarray(0, (this.highest >> 3) + 1)).toString('base64');
  }

  #set(counter: number): void {
    const at = counter >> 3;
    if (at >= this.#seen.length) {
      const larger = new Uint8Array(Math.max(at + 1, this.#seen.length * 2));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[at] = (this.#seen[at] ?? 0) | (1 << (counter & 7));
  }
}

/** Counters of a stream, in the form of a ledger. */
export type SeenCounters = number | string;

/** A set of counters that were seen by any of several subscribers. */
export class CounterSet {
  #bits = new Uint8Array(0);
  #prefix = 0;

  add(seen: SeenCounters): void {
    if (typeof seen === 'number') {
      this.#prefix = Math.max(this.#prefix, seen);
      return;
    }
    const bits = Buffer.from(seen, 'base64');
    const union = new Uint8Array(Math.max(bits.length, this.#bits.length));
    union.set(this.#bits);
    bits.forEach((byte, at) => {
      union[at] = (union[at] ?? 0) | byte;
    });
    this.#bits = union;
  }

  has(counter: number): boolean {
    return counter < this.#prefix || ((this.#bits[counter >> 3] ?? 0) & (1 << (counter & 7))) !== 0;
  }

  /** Those from 0 up to, not including, `count` that are not in the set. */
  *missingBelow(count: number): Generator<number> {
    for (let counter = Math.min(this.#prefix, count); counter < count; counter += 1) {
      if (!this.has(counter)) yield counter;
    }
  }
}
