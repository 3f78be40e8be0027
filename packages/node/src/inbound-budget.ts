import type { Clock } from '@apus/broker';

/** A connection, and how many bytes of its client the broker has not taken yet. */
export interface InboundHolder {
  readonly heldBytes: number;
  /** Since when it has held bytes, in ms since the epoch. */
  readonly heldSinceMs: number;
  /** Ends the connection, and frees its bytes at once. */
  overload(): void;
}

/** Connections are ended until this share of the budget is used: not one with every chunk that arrives. */
const RELIEVED_SHARE = 7 / 8;

/** The least age: if all bytes came at the same moment, their number decides. */
const AGE_MS_MIN = 1000;

/**
 * Bytes that all clients together have begun to send: incomplete messages and packets, and those that wait
 * [SEC-MEMORY-2].
 */
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

  /** A connection holds so many bytes more, or fewer. */
  change(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#bytesMax) this.#relieve();
  }

  /**
   * Ends connections, first those that have held most for longest: a client that sends a large message is soon done,
   * while one that never ends it goes on holding its bytes, however few.
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
