import type { Clock } from '../clock/clock.ts';

/** The throttle of API Gateway: a token for a request, `perSecond` new ones a second, at most `burst` saved up. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = clock.now();
  }

  /** Takes a token; false when there is none beside those that are to be left. */
  take(left = 0): boolean {
    this.#fill();
    if (this.#tokens < 1 + left) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(): void {
    const nowMs = this.#clock.now();
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#perSecond);
    this.#filledAtMs = nowMs;
  }
}
