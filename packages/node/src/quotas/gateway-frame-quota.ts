import type { Identity } from '@apus/broker';
import type { FrameContents, FrameQuota, QuotaScope } from '@apus/cloud';
import type { Scheduler } from '../scheduler.ts';
import { BURST_MS, type RateQuota } from './rate-quota.ts';

/**
 * A frame waits so long for its sender's debt, and its client with it: it has one frame in flight. One that waits for no
 * answer is in debt for longer sooner or later, and is cut as a deployment cuts it.
 */
const WAIT_MS_MAX = 2_000;

/** The gateway door beside the node door charges its clients to the same accounts. */
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
