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

  /** Takes a token; false when there is none. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(): void {
    const nowMs = this.#clock.now();
    this.#tokens = Math.min(
      this.#burst,
      this.#tokens + ((nowMs - this.#filledAtMs) / 1000) * this.#perSecond,
    );
    this.#filledAtMs = nowMs;
  }
}
