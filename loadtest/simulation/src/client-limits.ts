import type { Quotas } from './quotas.ts';

/** The share of one tenant in the messages at which the breaker trips (infra/lib/options.ts, `quotas`). */
export const TENANT_SHARE = 0.6;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** The burst of a rate: of frames, publishes and messages (aws/src/quotas/frame-quota.ts). */
const BURST_MS = 10_000;

/** The burst of deliveries (aws/src/quotas/delivery-quota.ts). */
const DELIVERIES_BURST_MS = MINUTE_MS;

/** How long an identity that was cut gets nothing. */
const FINE_MS = 10_000;

/** A client that has used no more than its own rate within a minute goes on while its tenant exceeds its quota. */
const LIGHT_MS = 1_000;

/** A frame and its reply. */
const MESSAGES_OF_A_FRAME = 2;

/** A rate as the time until which everything has been paid for (aws/src/quotas/shared-quota.ts). */
class RateAccount {
  readonly #burstMs: number;
  #debtEndsAtMs = 0;
  #minute = 0;
  #takenMs = 0;

  constructor(burstMs: number) {
    this.#burstMs = burstMs;
  }

  isOverdrawn(nowMs: number): boolean {
    return this.#debtEndsAtMs - nowMs >= this.#burstMs;
  }

  isLight(nowMs: number): boolean {
    return this.#minute !== Math.floor(nowMs / MINUTE_MS) || this.#takenMs <= LIGHT_MS;
  }

  charge(costMs: number, nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute !== this.#minute) this.#takenMs = 0;
    this.#minute = minute;
    this.#takenMs += costMs;
    this.#debtEndsAtMs = Math.max(this.#debtEndsAtMs, nowMs) + costMs;
  }
}

interface Sender {
  readonly frames: RateAccount;
  readonly deliveries: RateAccount;
}

/** Rates of a deployment for each publisher, and for their tenant; every publisher is an identity of its own. */
export class ClientLimits {
  readonly #quotas: Quotas;
  readonly #tenant = new RateAccount(BURST_MS);
  readonly #senders = new Map<number, Sender>();

  constructor(quotas: Quotas) {
    this.#quotas = quotas;
  }

  /** False: the frame ends its connection, and its publisher gets nothing for a while. */
  takeFrame(publisher: number, publishes: number, nowMs: number): boolean {
    const { identityFramesPerSecondMax, identityPublishesPerSecondMax } = this.#quotas;
    const { frames } = this.#sender(publisher);
    if (frames.isOverdrawn(nowMs)) return false;
    frames.charge(
      SECOND_MS / identityFramesPerSecondMax + (publishes * SECOND_MS) / identityPublishesPerSecondMax,
      nowMs,
    );
    if (frames.isOverdrawn(nowMs)) frames.charge(FINE_MS, nowMs);
    return this.#takeMessages(frames, MESSAGES_OF_A_FRAME, nowMs);
  }

  /** False: the message is refused with 0x97, and reaches no subscriber. */
  takeDeliveries(publisher: number, count: number, nowMs: number): boolean {
    const { deliveries } = this.#sender(publisher);
    if (deliveries.isOverdrawn(nowMs)) return false;
    deliveries.charge((count * MINUTE_MS) / this.#quotas.identityDeliveriesPerMinuteMax, nowMs);
    return this.#takeMessages(deliveries, count, nowMs);
  }

  #takeMessages(own: RateAccount, count: number, nowMs: number): boolean {
    if (this.#tenant.isOverdrawn(nowMs)) return own.isLight(nowMs);
    const perMinuteMax = this.#quotas.messagesPerMinuteMax * TENANT_SHARE;
    this.#tenant.charge((count * MINUTE_MS) / perMinuteMax, nowMs);
    return true;
  }

  #sender(publisher: number): Sender {
    let sender = this.#senders.get(publisher);
    if (sender === undefined) {
      sender = { frames: new RateAccount(BURST_MS), deliveries: new RateAccount(DELIVERIES_BURST_MS) };
      this.#senders.set(publisher, sender);
    }
    return sender;
  }
}
