import type { Identity } from '@apus/broker';
import type { FrameContents, FrameQuota, QuotaScope } from '@apus/cloud';
import type { Scheduler } from '../scheduler.ts';
import { BURST_MS, type RateQuota } from './rate-quota.ts';

/**
 * How long a frame, and so its client, may wait for its sender's debt: a client has one frame in flight. A client that
 * does not wait for replies gets into a larger debt sooner or later, and is cut, as by a deployment.
 */
const WAIT_MS_MAX = 2_000;

/** Charges the clients of the gateway door to the accounts of the node door. */
export class GatewayFrameQuota implements FrameQuota {
  readonly #quota: RateQuota;
  readonly #scheduler: Scheduler;

  constructor(quota: RateQuota, scheduler: Scheduler) {
    this.#quota = quota;
    this.#scheduler = scheduler;
  }

  take(
    sender: Identity,
    clientId: string,
    { publishes, packets, bytes }: FrameContents,
  ): QuotaScope | undefined | Promise<undefined> {
    const nowMs = this.#scheduler.now();
    const charges = this.#quota.chargesOf(sender, clientId);
    charges.frame(publishes, packets - publishes, bytes, nowMs);
    const waitMs = charges.debtMs(nowMs) - BURST_MS;
    // Debts are times in ms since 1970: less than a millisecond is a rounding error.
    if (waitMs < 1) return undefined;
    if (waitMs > WAIT_MS_MAX) return charges.isOwnDebt(nowMs) ? 'identity' : 'tenant';
    return new Promise((resolve) => this.#scheduler.after(waitMs, () => resolve(undefined)));
  }

  isOverdrawn(sender: Identity, clientId: string): boolean {
    return this.#quota.chargesOf(sender, clientId).debtMs(this.#scheduler.now()) > BURST_MS + WAIT_MS_MAX;
  }
}
