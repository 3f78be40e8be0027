import type { Clock } from '@apus/broker';

/** A connection, and the bytes that its client has sent and the broker has not yet taken. */
export interface InboundHolder {
  readonly heldBytes: number;
  /** Since when it has held something, in ms since the epoch. */
  readonly heldSinceMs: number;
  /** Ends the connection, and frees its bytes at once. */
  overload(): void;
}

/** Connections are ended until so much of the budget is free again: not one with every chunk that comes. */
const RELIEVED_SHARE = 7 / 8;

/** Lets the bytes count where all of them came in the same moment. */
const AGE_MS_MIN = 1000;

/** Bytes that all clients together have begun to send: messages and packets that are not whole, and those that wait [SEC-MEMORY-2]. */
export class InboundBudget {
  readonly #bytesMax: number;
  readonly #holders: () => Iterable<InboundHolder>;
  readonly #clock: Clock;
  #bytes = 0;

  constructor(bytesMax: number, holders: () => Iterable<InboundHolder>, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#holders = holders;
    this.#clock = clock;
  }

  /** A connection holds this many bytes more, or fewer, than before. */
  change(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#bytesMax) this.#relieve();
  }

  /**
   * Ends connections, those first that have held most for longest: a client that sends a large message is soon done, and
   * one that never ends it holds on, however little that is.
   */
  #relieve(): void {
    const nowMs = this.#clock.now();
    const weigh = ({ heldBytes, heldSinceMs }: InboundHolder) =>
      heldBytes * Math.max(nowMs - heldSinceMs, AGE_MS_MIN);
    const holders = [...this.#holders()].filter(({ heldBytes }) => heldBytes > 0);
    holders.sort((one, other) => weigh(other) - weigh(one));
    for (const holder of holders) {
      if (this.#bytes <= this.#bytesMax * RELIEVED_SHARE) return;
      holder.overload();
    }
  }
}
