import type { Position } from './position.ts';

/** A message of a stream that the client has received. */
export interface Arrival {
  readonly position: Position;
  /** The message was not sent live: `stream-kind` says why. */
  readonly isPast: boolean;
  readonly handOver: () => void;
}

/** The user properties of a SUBACK for one topic. */
export interface Begin {
  readonly epoch: string;
  /** The next message has a higher number than this. */
  readonly after: number;
  /** Messages up to this number come as history: in their order, and before live ones. */
  readonly newest: number;
}

/**
 * Puts the messages of one topic in the order of their numbers, each once. History comes in order. Live messages that
 * are published at the same time may come in any order: each says up to which number all others have been sent
 * (`stable`), and waits here until all between that number and its own have been handed over.
 */
export class Sequence {
  #epoch: string;
  /** The epoch before that. Its messages may still be on their way. */
  #before: string | undefined;
  /** Number of the last message that was handed over. */
  #last: number;
  /**
   * Number of the last message of the history that was handed over. Another subscription may bring live ones meanwhile.
   */
  #past = 0;
  /** The number in the last SUBACK: every message up to it is part of the history. */
  #newest = 0;
  /** No message up to this number is on its way any more. */
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
    this.#enter(epoch);
    this.#newest = newest;
    this.#stable = newest;
    for (const number of this.#held.keys()) if (number <= newest) this.#held.delete(number);
  }

  /**
   * 'lost': the message belongs to another epoch, and messages may be missing in between. The caller has to ask again.
   */
  take({ position, isPast, handOver }: Arrival): 'lost' | undefined {
    const { epoch, number, stable } = position;
    // The history of an epoch comes after the SUBACK that names the epoch: this message is history of another SUBACK.
    if (epoch !== this.#epoch && (isPast || !this.#changeTo(position))) return 'lost';
    // A message behind that number is history of another SUBACK, which was lost on its way: live messages may take its
    // place.
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
   * A reader that has been live all along misses nothing if every message before this one has been sent. When an epoch
   * ends, numbers go on or begin again: a message with another number was sent earlier, and belongs to an earlier
   * epoch.
   */
  #changeTo({ epoch, number, stable }: Position): boolean {
    const isLater = number === 1 || number > Math.max(this.#last, this.#newest);
    if (epoch === this.#before || !isLater || this.#held.size > 0 || stable < number - 1) return false;
    this.#enter(epoch);
    this.#last = number - 1;
    this.#past = this.#last;
    this.#newest = 0;
    this.#stable = stable;
    return true;
  }

  #enter(epoch: string): void {
    if (epoch !== this.#epoch) this.#before = this.#epoch;
    this.#epoch = epoch;
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

  /** The number comes first: if the program throws, it has had the message. */
  #handOver(number: number, handOver: () => void): void {
    this.#last = number;
    handOver();
  }
}
