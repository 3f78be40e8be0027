import { randomBytes } from 'node:crypto';

/** All random choices of the emulator come from one seed, so that a failing run can be repeated. */
export class Random {
  readonly seed: number;
  #state: number;

  /**
   * Whether ids and credentials come from the seed too, for a test; otherwise from the system, as 32 bits can be
   * guessed [SEC-ORIGIN-3].
   */
  readonly #hasSeededIds: boolean;

  constructor(seed: number, hasSeededIds = true) {
    this.#hasSeededIds = hasSeededIds;
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  /** In [0, 1): mulberry32, small and good enough for faults. Not for secrets. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from 0 up to and without `end`. */
  integer(end: number): number {
    return Math.floor(this.next() * end);
  }

  /**
   * Draws only if the probability is neither 0 nor 1: a fault that is off does not shift the numbers for the others.
   */
  happens(probability: number): boolean {
    if (probability <= 0) return false;
    if (probability >= 1) return true;
    return this.next() < probability;
  }

  /**
   * Bytes for ids and credentials. The stream advances in both cases, so that a seed gives the same choices in both.
   */
  bytes(length: number): Buffer {
    const seeded = Buffer.from(Array.from({ length }, () => this.integer(256)));
    return this.#hasSeededIds ? seeded : randomBytes(length);
  }

  /** An independent stream for another subsystem: the draws of one do not shift the other. */
  fork(): Random {
    return new Random(this.integer(0x1_0000_0000), this.#hasSeededIds);
  }
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 0x1_0000_0000);
}
