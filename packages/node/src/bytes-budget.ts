import { type Clock, steadyNow } from '@apus/broker';

/** One direction of a connection, and how many bytes of it the process holds. */
export interface BytesHolder {
  readonly heldBytes: number;
  /** Since when it has held bytes and nothing has moved, by the clock without steps. */
  readonly heldSinceMs: number;
  /** Ends the connection, and frees its bytes at once. */
  overload(): void;
}

/** Connections are ended until this share of the budget is used: not one with every chunk that arrives. */
const RELIEVED_SHARE = 7 / 8;

/** The least age: if all bytes came at the same moment, their number decides. */
const AGE_MS_MIN = 1000;

/** Of what is free, one connection may take this part: what is left then is never nothing. */
const SHARE_OF_FREE = 1 / 4;
/** Every connection may hold so many bytes, whatever others hold. */
const SHARE_BYTES_MIN = 16 * 1024;

/**
 * Bytes that the process holds for all clients together, in one direction: what they have begun to send
 * [SEC-MEMORY-2], or what they have not read [SEC-MEMORY-9].
 */
export class BytesBudget {
  readonly #bytesMax: number;
  readonly #holders: () => Iterable<BytesHolder>;
  readonly #clock: Clock;
  #bytes = 0;

  constructor(bytesMax: number, holders: () => Iterable<BytesHolder>, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#holders = holders;
    this.#clock = clock;
  }

  /** The bytes that one connection may hold now: less and less while others fill the budget. */
  get shareBytes(): number {
    return Math.max(SHARE_BYTES_MIN, Math.floor((this.#bytesMax - this.#bytes) * SHARE_OF_FREE));
  }

  /** A connection holds so many bytes more, or fewer. */
  change(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#bytesMax) this.#relieve();
  }

  /**
   * Ends connections, first those that have held most for longest: a client that sends or reads a large message is
   * soon done, while one that never ends it goes on holding its bytes, however few.
   */
  #relieve(): void {
    const nowMs = steadyNow(this.#clock);
    const weigh = ({ heldBytes, heldSinceMs }: BytesHolder) =>
      heldBytes * Math.max(nowMs - heldSinceMs, AGE_MS_MIN);
    const holders = [...this.#holders()].filter(({ heldBytes }) => heldBytes > 0);
    holders.sort((one, other) => weigh(other) - weigh(one));
    for (const holder of holders) {
      if (this.#bytes <= this.#bytesMax * RELIEVED_SHARE) return;
      holder.overload();
    }
  }
}
