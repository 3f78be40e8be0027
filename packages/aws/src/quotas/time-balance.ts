const MINUTE_MS = 60_000;

/**
 * Free time of each minute in each environment: at 30,000 deliveries a minute, 60 of them, a message a second to one
 * recipient. Each environment lets this much through beyond the quota, so it is small: a five-hundredth.
 */
const FREE_MS = MINUTE_MS / 500;

/**
 * The time of a lot: at 30,000 deliveries a minute, 250 of them. Its write unit costs a four-hundredth of their posts.
 */
const LOT_MS = MINUTE_MS / 120;

/** A quiet client needs at most two lots in a minute. */
const LIGHT_MS = 2 * LOT_MS;

/** How much the holder of an account may still spend in one environment, in milliseconds. */
export class TimeBalance {
  readonly #debtMsMax: number;
  #freeMs = FREE_MS;
  #freeUntilMs = Number.NEGATIVE_INFINITY;
  /** Taken from the account and not spent; void after a minute. */
  #leftMs = 0;
  #leftUntilMs = Number.NEGATIVE_INFINITY;
  /** The end of the debt, as the account has answered last. */
  #debtEndsAtMs = Number.NEGATIVE_INFINITY;
  #isRefused = false;
  /** Time of the lots taken since then. */
  #lotsMs = 0;
  #lotsSinceMs = Number.NEGATIVE_INFINITY;

  constructor(debtMsMax: number) {
    this.#debtMsMax = debtMsMax;
  }

  /** Whether the debt of the account is above its limit: it need not be asked. */
  isOverdrawn(nowMs: number): boolean {
    return this.#debtEndsAtMs - nowMs >= this.#debtMsMax;
  }

  /**
   * Whether it has taken at most a sixtieth of its quota here within a minute, as a client that sends once a second
   * does.
   */
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

  /** Takes all of the cost or nothing: from the free time, or from the rest of a lot. */
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

  /** How much to take from the account for this cost: whole milliseconds. */
  lotMsFor(costMs: number): number {
    return Math.ceil(Math.max(costMs - this.#leftMs, LOT_MS));
  }

  /** Nothing was taken. True if something was taken from the account before. */
  refuse(): boolean {
    const isFirst = !this.#isRefused;
    this.#isRefused = true;
    return isFirst;
  }

  /** The account has answered with its debt, and the time that it gave. */
  charged(debtMs: number, lotMs: number, nowMs: number): void {
    this.#debtEndsAtMs = nowMs + debtMs;
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
