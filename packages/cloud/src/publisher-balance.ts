const MINUTE_MS = 60_000;

/**
 * So many parts of the limit are free in each environment and minute: 60 of 30,000, a message a second to one recipient.
 * Each environment lets that many through beyond the limit, so it is small.
 */
const FREE_PARTS = 500;

/** A lot is so large a part of the limit: 250 of 30,000, a write unit for posts that cost 400 times as much. */
const LOT_PARTS = 120;

/** What one environment knows of what a publisher may still cause. */
export class PublisherBalance {
  readonly #freeMax: number;
  readonly #lotMin: number;
  #free: number;
  #freeUntilMs = Number.NEGATIVE_INFINITY;
  /** Taken from the account and not used; forfeited after a minute. */
  #left = 0;
  #leftUntilMs = Number.NEGATIVE_INFINITY;
  /** As the account was seen last. */
  #debtEndsAtMs = Number.NEGATIVE_INFINITY;

  constructor(deliveriesPerMinuteMax: number) {
    this.#freeMax = Math.floor(deliveriesPerMinuteMax / FREE_PARTS);
    this.#lotMin = Math.max(1, Math.floor(deliveriesPerMinuteMax / LOT_PARTS));
    this.#free = this.#freeMax;
  }

  /** The account gives nothing before its debt is below a minute: there is no need to ask it. */
  isOverdrawn(nowMs: number): boolean {
    return this.#debtEndsAtMs - nowMs >= MINUTE_MS;
  }

  isInDebt(nowMs: number): boolean {
    return this.#debtEndsAtMs > nowMs;
  }

  /** Takes all of them, or none: of what is free, else of what is left of a lot. */
  take(deliveries: number, nowMs: number): boolean {
    if (nowMs >= this.#freeUntilMs) {
      this.#free = this.#freeMax;
      this.#freeUntilMs = nowMs + MINUTE_MS;
    }
    if (nowMs >= this.#leftUntilMs) this.#left = 0;
    if (deliveries <= this.#free && !this.isOverdrawn(nowMs)) {
      this.#free -= deliveries;
      return true;
    }
    if (deliveries > this.#left) return false;
    this.#left -= deliveries;
    return true;
  }

  /** How many to take from the account for these. */
  lotFor(deliveries: number): number {
    return Math.max(deliveries - this.#left, this.#lotMin);
  }

  /** What the account has answered: its debt, and how many it gave. */
  charged(debtEndsAtMs: number, lot: number, nowMs: number): void {
    this.#debtEndsAtMs = debtEndsAtMs;
    if (lot === 0) return;
    this.#left += lot;
    this.#leftUntilMs = nowMs + MINUTE_MS;
  }
}
