/** A throttle: a rate a second, and a burst after a pause. */
export class TokenBucket {
  offered = 0;
  refused = 0;
  /** The most that was asked for in one second. */
  peakPerSecond = 0;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs = 0;
  #second = 0;
  #inSecond = 0;

  /** @param perSecond Infinity: no refusals */
  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  take(nowMs: number, count = 1): boolean {
    this.#note(nowMs, count);
    if (this.#perMs === Number.POSITIVE_INFINITY) return true;
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
    if (this.#tokens < count) {
      this.refused += count;
      return false;
    }
    this.#tokens -= count;
    return true;
  }

  #note(nowMs: number, count: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    this.offered += count;
    this.#inSecond += count;
    this.peakPerSecond = Math.max(this.peakPerSecond, this.#inSecond);
  }
}
