import { type Acknowledgement, OTHERS_MAX } from './entries.ts';
import { ACKNOWLEDGED_BYTES_MAX } from './limits.ts';

/** Entries from one process, and how far that process knows about them. */
export class Incoming {
  /** All entries up to this one have arrived. */
  #received = 0;
  /** All entries up to this one have been handled. */
  #stored = 0;
  /** Later entries that have been handled. */
  readonly #others = new Set<number>();
  /** The process has to be told: with the next entry, or now. */
  #isUntold = false;
  #untoldBytes = 0;
  isUrgent = false;
  #isMissing = false;
  /** The entry after which a gap was reported. */
  #missingBehind = -1;

  /** False: it has arrived before, or an earlier one is missing. Entries are handled once and in order. */
  take(number: number, bytes: number): boolean {
    if (number === this.#received + 1) {
      this.#received = number;
      this.#isUntold = true;
      this.#untoldBytes += bytes;
      if (this.#untoldBytes > ACKNOWLEDGED_BYTES_MAX) this.isUrgent = true;
      return true;
    }
    if (number <= this.#received) this.#tell();
    else if (this.#missingBehind !== this.#received) {
      this.#missingBehind = this.#received;
      this.#isMissing = true;
      this.#tell();
    }
    return false;
  }

  /** The entry is as durable as it has to be. */
  finish(number: number, isAwaited: boolean): void {
    if (number === this.#stored + 1) this.#stored = number;
    else this.#others.add(number);
    while (this.#others.delete(this.#stored + 1)) this.#stored += 1;
    this.#isUntold = true;
    if (isAwaited) this.isUrgent = true;
  }

  get isUntold(): boolean {
    return this.#isUntold;
  }

  /** Undefined: the process knows everything. */
  acknowledgement(): Acknowledgement | undefined {
    if (!this.#isUntold) return undefined;
    const others = this.#others.size === 0 ? NONE : [...this.#others].slice(0, OTHERS_MAX);
    const acknowledgement = {
      received: this.#received,
      stored: this.#stored,
      others,
      isMissing: this.#isMissing,
    };
    this.#isUntold = false;
    this.#untoldBytes = 0;
    this.isUrgent = false;
    this.#isMissing = false;
    return acknowledgement;
  }

  #tell(): void {
    this.#isUntold = true;
    this.isUrgent = true;
  }
}

const NONE: readonly number[] = [];
