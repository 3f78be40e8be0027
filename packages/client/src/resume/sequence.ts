import type { Position } from './position.ts';

/** A message of a stream that has come. */
export interface Arrival {
  readonly position: Position;
  /** It was not sent live: `stream-kind` says why. */
  readonly isPast: boolean;
  readonly handOver: () => void;
}

/** The user properties of a SUBACK for one topic. */
export interface Begin {
  readonly epoch: string;
  /** The first message that follows is behind this number. */
  readonly after: number;
  /** The messages up to this number come as the past, in their order and before live ones. */
  readonly newest: number;
}

/**
 * Puts the messages of one topic in the order of their numbers, each once. The past comes in order. Live messages that are
 * published side by side may come in any order: each says up to which number the others have left (`stable`), and waits
 * here until all between that number and its own have been handed over.
 */
export class Sequence {
  #epoch: string;
  /** Number of the last message that was handed over. */
  #last: number;
  /** Number of the last message of the past that was handed over. Another subscription may bring live ones meanwhile. */
  #past = 0;
  /** The last SUBACK's number: up to it no message comes live that was not in the past. */
  #newest = 0;
  /** Up to this number nothing is on its way any more. */
  #stable = 0;
  readonly #held = new Map<number, () => void>();

  constructor(epoch: string) {
    this.#epoch = epoch;
    this.#last = 0;
  }

  /** The position of the last message handed over; the program has had every message up to it since it began. */
  get position(): string {
    return `${this.#epoch}-${this.#last}`;
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** Live messages may have been handed over since the SUBSCRIBE that is answered: they are not handed over again. */
  begin({ epoch, after, newest }: Begin): void {
    const goesOn = epoch === this.#epoch && this.#last <= newest;
    if (!goesOn) this.#held.clear();
    this.#last = goesOn ? Math.max(this.#last, after) : after;
    this.#past = this.#last;
    this.#epoch = epoch;
    this.#newest = newest;
    this.#stable = newest;
    for (const number of this.#held.keys()) if (number <= newest) this.#held.delete(number);
  }

  /** 'lost': the message is of another epoch, and messages may be missing between. Ask again. */
  take({ position, isPast, handOver }: Arrival): 'lost' | undefined {
    const { epoch, number, stable } = position;
    // The past of an epoch comes behind the SUBACK that names the epoch: this one is the past of another SUBACK.
    if (epoch !== this.#epoch && (isPast || !this.#changeTo(position))) return 'lost';
    // Behind that it is of the past of another SUBACK, which was lost on its way: live messages may stand for it.
    if (isPast && number <= this.#newest) {
      if (number > this.#past) this.#handOverPast(number, handOver);
      return undefined;
    }
    if (number <= this.#last || number <= this.#newest) return undefined;
    this.#held.set(number, handOver);
    const hasAdvanced = stable > this.#stable;
    if (hasAdvanced) this.#stable = stable;
    if (hasAdvanced || this.#isNext(number)) this.#release();
    return undefined;
  }

  /** Drops the held messages: the broker sends them again. */
  dropHeld(): void {
    this.#held.clear();
  }

  /**
   * A reader that has been live all along misses nothing, where everything before the message has left. Numbers go on when
   * an epoch ends, or begin again: a message with another number was already on its way, and is of an earlier epoch.
   */
  #changeTo({ epoch, number, stable }: Position): boolean {
    const isLater = number === 1 || number > Math.max(this.#last, this.#newest);
    if (!isLater || this.#held.size > 0 || stable < number - 1) return false;
    this.#epoch = epoch;
    this.#last = number - 1;
    this.#past = this.#last;
    this.#newest = 0;
    this.#stable = stable;
    return true;
  }

  #release(): void {
    const held = [...this.#held].sort(([one], [other]) => one - other);
    for (const [number, handOver] of held) {
      if (!this.#isNext(number)) return;
      this.#held.delete(number);
      this.#handOver(number, handOver);
    }
  }

  #isNext(number: number): boolean {
    return number - 1 <= Math.max(this.#last, this.#stable);
  }

  #handOverPast(number: number, handOver: () => void): void {
    this.#past = number;
    this.#handOver(Math.max(this.#last, number), handOver);
  }

  /** First the number: a program that throws has had the message. */
  #handOver(number: number, handOver: () => void): void {
    this.#last = number;
    handOver();
  }
}
