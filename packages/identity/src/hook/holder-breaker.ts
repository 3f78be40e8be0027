import { CircuitBreaker } from './circuit-breaker.ts';
import { FAILED_HOLDERS_MAX, FAILURES_MAX, REST_MS } from './limits.ts';

/**
 * Leaves a hook alone that does not answer. Failures in a row of one holder stop its own requests; those of several
 * holders stop all, as the failures of one may be its own doing: a hook may be slow to a client that guesses
 * [SEC-HOOK-5].
 */
export class HolderBreaker {
  readonly #all = new CircuitBreaker(FAILURES_MAX, REST_MS);
  /** Of holders whose last request has failed, the oldest first. */
  readonly #failed = new Map<string, CircuitBreaker>();
  /** Holders with a failure since the last answer. */
  readonly #inARow = new Set<string>();

  take(holder: string, nowMs: number): boolean {
    return (this.#failed.get(holder)?.take(nowMs) ?? true) && this.#all.take(nowMs);
  }

  succeeded(holder: string): void {
    this.#failed.delete(holder);
    this.#inARow.clear();
    this.#all.succeeded();
  }

  failed(holder: string, nowMs: number): void {
    const own = this.#failed.get(holder) ?? new CircuitBreaker(FAILURES_MAX, REST_MS);
    own.failed(nowMs);
    this.#failed.delete(holder);
    this.#failed.set(holder, own);
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size <= FAILED_HOLDERS_MAX) break;
      this.#failed.delete(oldest);
    }
    if (this.#inARow.size >= FAILURES_MAX || this.#inARow.has(holder)) return;
    this.#inARow.add(holder);
    this.#all.failed(nowMs);
  }
}
