import { type Identity, steadyNow } from '@apus/broker';
import { BURST_MS, type Charges, type RateQuota, type Scheduler } from '@apus/door';
import type { Packet } from '@apus/mqtt';
import type { Throttle, Waiting } from './throttle.ts';

/** A client that has not had to wait for this long is within its rate again. */
const CALM_MS = 1_000;

export interface LinkRateContext {
  readonly rateQuota: RateQuota;
  readonly throttle: Throttle;
  readonly scheduler: Scheduler;
}

/** The link whose packets `LinkRate` charges. */
export interface Charged {
  /** The client may go on. */
  resumed(): void;
}

/** Charges the packets of one connection to its identity, and says whether the client has to wait [SEC-QUOTA-1]. */
export class LinkRate implements Waiting {
  readonly #context: LinkRateContext;
  readonly #charged: Charged;
  #identity: Identity | undefined;
  #charges: Charges | undefined;
  #isWaiting = false;
  /** It waits for a debt, and not only for the answer of other processes. */
  #isInDebt = false;
  #waitsSinceMs = 0;
  #wentOnAtMs = Number.NEGATIVE_INFINITY;
  /** Bytes of MQTT in what is being read, and when the last of them came. */
  #mqttBytes = 0;
  #aroundBytes = 0;
  #readAtMs = 0;

  constructor(context: LinkRateContext, charged: Charged) {
    this.#context = context;
    this.#charged = charged;
  }

  /** No further packet may be taken; `resumed` is called when that changes. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The client has an identity, or a new one: it pays from now on. */
  identify(identity: Identity, clientId: string): void {
    if (identity === this.#identity) return;
    this.#identity = identity;
    this.#charges = this.#context.rateQuota.chargesOf(identity, clientId);
  }

  /** A packet is about to be handled. */
  packet(packet: Packet, nowMs: number): void {
    this.#charges?.packet(packet, nowMs);
    this.#look(nowMs);
  }

  /** Bytes of MQTT have been read. */
  received(bytes: number): void {
    this.#mqttBytes += bytes;
    this.#readAtMs = steadyNow(this.#context.scheduler);
    this.#bytes(bytes, this.#readAtMs);
  }

  /** So many bytes have come at once. @returns those around MQTT so far, as of frames */
  arrived(bytes: number): number {
    const around = bytes - this.#mqttBytes;
    if (around > 0)
      this.#bytes(around, this.#mqttBytes > 0 ? this.#readAtMs : steadyNow(this.#context.scheduler));
    this.#mqttBytes = 0;
    this.#aroundBytes += around;
    return this.#aroundBytes;
  }

  /**
   * How long the client has exceeded its identity's rate without a pause. 0 while it does not have to wait, or waits
   * because of others of its tenant.
   */
  overdraftMs(nowMs: number): number {
    if (!this.#isWaiting || this.#charges?.isOwnDebt(nowMs) !== true) return 0;
    return nowMs - this.#waitsSinceMs;
  }

  mayGoOn(nowMs: number): boolean {
    this.#noteDebt(nowMs);
    return this.#waitMs(nowMs) <= BURST_MS;
  }

  goOn(nowMs: number): void {
    this.#isWaiting = false;
    if (this.#isInDebt) this.#wentOnAtMs = nowMs;
    this.#isInDebt = false;
    this.#charged.resumed();
  }

  end(): void {
    if (this.#isWaiting) this.#context.throttle.delete(this);
  }

  #bytes(bytes: number, nowMs: number): void {
    this.#charges?.bytes(bytes, nowMs);
    this.#look(nowMs);
  }

  #look(nowMs: number): void {
    if (this.#isWaiting || this.#waitMs(nowMs) <= BURST_MS) return;
    this.#isWaiting = true;
    this.#noteDebt(nowMs);
    this.#context.throttle.add(this);
  }

  #noteDebt(nowMs: number): void {
    if (this.#isInDebt || (this.#charges?.debtMs(nowMs) ?? 0) <= BURST_MS) return;
    this.#isInDebt = true;
    if (nowMs - this.#wentOnAtMs > CALM_MS) this.#waitsSinceMs = nowMs;
  }

  #waitMs(nowMs: number): number {
    return this.#charges?.waitMs(nowMs) ?? 0;
  }
}
