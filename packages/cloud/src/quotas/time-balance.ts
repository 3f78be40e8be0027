const MINUTE_MS = 60_000;

/**
 * So much time of each minute is free in each environment: at 30,000 deliveries a minute 60 of them, a message a second
 * to one recipient. Each environment lets that much through beyond the quota, a fivehundredth, so it is small.
 */
const FREE_MS = MINUTE_MS / 500;

/** A lot is so much time: of 30,000 deliveries a minute 250, a write unit for posts that cost 400 times as much. */
const LOT_MS = MINUTE_MS / 120;

/** A quiet client needs at most two lots in a minute. */
const LIGHT_MS = 2 * LOT_MS;

/** One environment's view of the rest that the holder of an account may spend, in the time that pays for it. */
export class TimeBalance {
  readonly #debtMsMax: number;
  #freeMs = FREE_MS;
  #freeUntilMs = Number.NEGATIVE_INFINITY;
  /** Taken from the account and not used; forfeited after a minute. */
  #leftMs = 0;
  #leftUntilMs = Number.NEGATIVE_INFINITY;
  /** As the account was seen last. */
  #debtEndsAtMs = Number.NEGATIVE_INFINITY;
  #isRefused = false;
  /** Lots that it has taken since then, in time. */
  #lotsMs = 0;
  #lotsSinceMs = Number.NEGATIVE_INFINITY;

  constructor(debtMsMax: number) {
    this.#debtMsMax = debtMsMax;
  }

  /** The account gives nothing before its debt is below its limit: there is no need to ask it. */
  isOverdrawn(nowMs: number): boolean {
    return this.#debtEndsAtMs - nowMs >= this.#debtMsMax;
  }

  /** Within a minute it has taken no more than a sixtieth of its quota here: a client that sends once a second. */
  isLight(nowMs: number): boolean {
    const isOfLastMinute = nowMs < this.#lotsSinceMs + MINUTE_MS;
    return !(isOfLastMinute && this.#lotsMs > LIGHT_MS) && !this.isOverdrawn(nowMs);
  }

  isInDebt(nowMs: number): boolean {
    return this.#debtEndsAtMs > nowMs;
  }

  debtMs(nowMs: number): number {
    return this.#debtEndsAtMs - nowMs;
  }

  /** Takes all of the cost or nothing: from the free time, else from the rest of a lot. */
  take(costMs: number, nowMs: number): boolean {
    if (nowMs >= this.#freeUntilMs) {
      this.#freeMs = FREE_MS;
      this.#freeUntilMs = nowMs + MINUTE_MS;
    }
    if (nowMs >= this.#leftUntilMs) this.#leftMs = 0;
    if (costMs <= this.#freeMs && !this.isOverdrawn(nowMs)) {
      this.#freeMs -= costMs;
      return true;
    }
    if (costMs > this.#leftMs) return false;
    this.#leftMs -= costMs;
    return true;
  }

  /** How much to take from the account for this: whole milliseconds, as the account is one. */
  lotMsFor(costMs: number): number {
    return Math.ceil(Math.max(costMs - this.#leftMs, LOT_MS));
  }

  /** Nothing was taken. True the first time since something was taken of the account. */
  refuse(): boolean {
    const isFirst = !this.#isRefused;
    this.#isRefused = true;
    return isFirst;
  }

  /** The account has answered with its debt, and how much it gave. */
  charged(debtEndsAtMs: number, lotMs: number, nowMs: number): void {
    this.#debtEndsAtMs = debtEndsAtMs;
    if (lotMs === 0) return;
    this.#leftMs += lotMs;
    if (nowMs >= this.#lotsSinceMs + MINUTE_MS) {
      this.#lotsMs = 0;
      this.#lotsSinceMs = nowMs;
    }
    this.#lotsMs += lotMs;
    this.#leftUntilMs = nowMs + MINUTE_MS;
    this.#isRefused = false;
  }
}
