import { type Clock, type LinkState, steadyNow } from '@apus/broker';
import { BURST_MS, type Charges, type RateQuota } from '@apus/door';
import type { Packet } from '@apus/mqtt';

/** The link whose client is charged. */
export interface Charged {
  readonly state: LinkState;
  /** The client may go on. */
  goOn(): void;
}

/** Charges what a client sends to its identity, and says whether the client has to wait [SEC-QUOTA-1]. */
export class LinkRate {
  readonly #context: { readonly rates: RateQuota; readonly clock: Clock };
  readonly #charged: Charged;
  #isWaiting = false;

  constructor(context: { readonly rates: RateQuota; readonly clock: Clock }, charged: Charged) {
    this.#context = context;
    this.#charged = charged;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** A WebSocket message has come. */
  message(bytes: number): void {
    this.#charges?.frame({ frames: 1, packets: 0, publishes: 0, bytes }, this.#nowMs);
  }

  /** A packet is about to be handled. */
  packet(packet: Packet): void {
    this.#charges?.packet(packet, this.#nowMs);
  }

  /** No further packet may be taken. The object stays awake until its client may go on. */
  mustWait(): boolean {
    if (this.#isWaiting) return true;
    const waitMs = (this.#charges?.debtMs(this.#nowMs) ?? 0) - BURST_MS;
    // Debts are times: less than a millisecond is a rounding error.
    this.#isWaiting = waitMs >= 1;
    if (this.#isWaiting) setTimeout(() => this.#goOn(), waitMs);
    return this.#isWaiting;
  }

  #goOn(): void {
    this.#isWaiting = false;
    this.#charged.goOn();
  }

  get #nowMs(): number {
    return steadyNow(this.#context.clock);
  }

  /** The accounts of its identity. */
  get #charges(): Charges | undefined {
    const { state } = this.#charged;
    if (state.phase !== 'connected') return undefined;
    const { identity, session } = state.connection;
    return this.#context.rates.chargesOf(identity, session.clientId);
  }
}
