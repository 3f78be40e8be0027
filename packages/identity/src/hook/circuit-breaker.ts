/**
 * Remembers that a server does not answer, so that not every request waits for its timeout: after some failures in a
 * row no request is sent for a while, then a single one tries.
 */
export class CircuitBreaker {
  readonly #failuresMax: number;
  readonly #restMs: number;
  #failures = 0;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(failuresMax: number, restMs: number) {
    this.#failuresMax = failuresMax;
    this.#restMs = restMs;
  }

  /** Whether a request may be sent. After the pause, true for one request: the next one waits for its outcome. */
  take(nowMs: number): boolean {
    if (this.#failures < this.#failuresMax) return true;
    if (nowMs < this.#restsUntilMs) return false;
    this.#restsUntilMs = nowMs + this.#restMs;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(nowMs: number): void {
    this.#failures += 1;
    if (this.#failures >= this.#failuresMax) this.#restsUntilMs = nowMs + this.#restMs;
  }
}
