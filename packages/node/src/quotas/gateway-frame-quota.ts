import { type Identity, quotaHolderKey, quotaHolderOf, steadyNow } from '@apus/broker';
import {
  BURST_MS,
  type FrameContents,
  type FrameQuota,
  type QuotaScope,
  type RateQuota,
  type Scheduler,
} from '@apus/door';

/**
 * How long a frame, and so its client, may wait for its sender's debt: a client has one frame in flight. A client that
 * does not wait for replies gets into a larger debt sooner or later, and is cut, as by a deployment.
 */
const WAIT_MS_MAX = 2_000;

/**
 * Frames of one identity that wait: each holds one of the door's 1,000 executions. Clients that wait for replies have one
 * each. Beyond it the client of the next frame is cut [SEC-QUOTA-1].
 */
const WAITING_PER_HOLDER_MAX = 200;

/** Charges the clients of the gateway door to the accounts of the node door. */
export class GatewayFrameQuota implements FrameQuota {
  readonly #quota: RateQuota;
  readonly #scheduler: Scheduler;
  /** Frames that wait, by holder. */
  readonly #waiting = new Map<string, number>();

  constructor(quota: RateQuota, scheduler: Scheduler) {
    this.#quota = quota;
    this.#scheduler = scheduler;
  }

  take(
    sender: Identity,
    clientId: string,
    contents: FrameContents,
  ): QuotaScope | undefined | Promise<undefined> {
    const nowMs = steadyNow(this.#scheduler);
    const charges = this.#quota.chargesOf(sender, clientId);
    charges.frame(contents, nowMs);
    const waitMs = charges.debtMs(nowMs) - BURST_MS;
    // Debts are times: less than a millisecond is a rounding error.
    if (waitMs < 1) return undefined;
    const holder = quotaHolderKey(quotaHolderOf(sender, clientId));
    const waiting = this.#waiting.get(holder) ?? 0;
    if (waitMs > WAIT_MS_MAX || waiting >= WAITING_PER_HOLDER_MAX)
      return charges.isOwnDebt(nowMs) ? 'identity' : 'tenant';
    this.#waiting.set(holder, waiting + 1);
    return new Promise((resolve) => {
      this.#scheduler.after(waitMs, () => {
        this.#goOn(holder);
        resolve(undefined);
      });
    });
  }

  #goOn(holder: string): void {
    const waiting = (this.#waiting.get(holder) ?? 0) - 1;
    if (waiting > 0) this.#waiting.set(holder, waiting);
    else this.#waiting.delete(holder);
  }

  isOverdrawn(sender: Identity, clientId: string): boolean {
    return (
      this.#quota.chargesOf(sender, clientId).debtMs(steadyNow(this.#scheduler)) > BURST_MS + WAIT_MS_MAX
    );
  }
}
