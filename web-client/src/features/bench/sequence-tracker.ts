import { SEQUENCE_WINDOW } from './limits.ts';

/** Whether a message was the first with its number, a duplicate, or out of order. */
export type Arrival = 'next' | 'out-of-order' | 'duplicate';

/**
 * Recognises duplicates and messages out of order in a stream of numbers from 0. It remembers the last
 * `SEQUENCE_WINDOW` of them, a bit each; an older number counts as out of order, since it is not known whether it came
 * before.
 */
export class SequenceTracker {
  readonly #seen = new Uint32Array(SEQUENCE_WINDOW / 32);
  #highest = -1;
  #distinct = 0;

  /** Different numbers that came. */
  get distinct(): number {
    return this.#distinct;
  }

  take(sequence: number): Arrival {
    if (sequence > this.#highest) {
      this.#forgetUpTo(sequence);
      this.#highest = sequence;
      this.#mark(sequence);
      return 'next';
    }
    if (sequence > this.#highest - SEQUENCE_WINDOW && this.#isMarked(sequence)) return 'duplicate';
    this.#mark(sequence);
    return 'out-of-order';
  }

  /** Bits of numbers that leave the window are reused. */
  #forgetUpTo(sequence: number): void {
    const first = Math.max(this.#highest + 1, sequence - SEQUENCE_WINDOW + 1);
    for (let number = first; number <= sequence; number += 1) {
      const word = wordOf(number);
      this.#seen[word] = (this.#seen[word] ?? 0) & ~maskOf(number);
    }
  }

  #mark(sequence: number): void {
    this.#distinct += 1;
    if (sequence <= this.#highest - SEQUENCE_WINDOW) return;
    const word = wordOf(sequence);
    this.#seen[word] = (this.#seen[word] ?? 0) | maskOf(sequence);
  }

  #isMarked(sequence: number): boolean {
    return ((this.#seen[wordOf(sequence)] ?? 0) & maskOf(sequence)) !== 0;
  }
}

function wordOf(sequence: number): number {
  return (sequence % SEQUENCE_WINDOW) >>> 5;
}

function maskOf(sequence: number): number {
  return 1 << (sequence & 31);
}
