import type { Clock } from '@apus/emulator/service';
import { tokenMismatch } from './errors.ts';
import { LIMITS } from './limits.ts';

interface Completed {
  /** The request without the token. */
  readonly request: string;
  readonly atMs: number;
}

/** The tokens of completed transactions, for the ten minutes in which a repetition takes no effect. */
export class TransactionTokens {
  readonly #clock: Clock;
  readonly #completed = new Map<string, Completed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether this request has taken effect. Throws IdempotentParameterMismatchException if the token belongs to another
   * one.
   */
  has(token: string, request: string): boolean {
    this.#forget();
    const completed = this.#completed.get(token);
    if (completed !== undefined && completed.request !== request) throw tokenMismatch();
    return completed !== undefined;
  }

  complete(token: string, request: string): void {
    this.#completed.set(token, { request, atMs: this.#clock.now() });
  }

  /** In the order in which they were completed, so that the oldest are the first. */
  #forget(): void {
    const longAgoMs = this.#clock.now() - LIMITS.clientRequestTokenSeconds * 1_000;
    for (const [token, { atMs }] of this.#completed) {
      if (atMs > longAgoMs) return;
      this.#completed.delete(token);
    }
  }
}
