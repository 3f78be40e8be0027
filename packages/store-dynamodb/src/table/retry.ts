import { type Clock, steadyNow } from '@apus/broker';
import { ATTEMPTS_MAX, FIRST_PAUSE_MS, PAUSE_MS_MAX, RETRY_MS_MAX } from '../limits.ts';
import { InDoubtError, ThrottledError } from './errors.ts';

export interface RetryOptions {
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly clock: Clock;
}

/** The answer, and whether an earlier attempt, whose answer was lost, may have had its effect. */
export interface Answered<T> {
  readonly answer: T;
  readonly isRetry: boolean;
}

/** Errors that say that nothing was done. */
const REFUSED = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  // The first attempt with this token is still under way.
  'TransactionInProgressException',
  'ECONNREFUSED',
]);

/** After these errors it is unknown whether the call had its effect. */
const IN_DOUBT = new Set([
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'ECONNRESET',
  'EPIPE',
]);

/** Passing reasons: an action of a transaction that was refused for one of these may be taken later. */
const PASSING_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
]);

/**
 * Retries a call after a transient error, with pauses of full jitter. Every write of this store is conditional on not
 * having been made, or leaves the same item when it is made twice, or has a token; otherwise it is made `once`:
 * retried only after an error without effect.
 *
 * @throws {InDoubtError} if it is unknown whether a call with `once` had its effect
 */
export async function withRetries<T>(
  operation: string,
  options: RetryOptions,
  attempt: () => Promise<T>,
  once = false,
): Promise<Answered<T>> {
  const pauses = new Pauses(operation, options);
  let isRetry = false;
  for (;;) {
    try {
      return { answer: await attempt(), isRetry };
    } catch (error) {
      const fate = fateOf(error);
      if (fate === undefined) throw error;
      if (fate === 'in doubt' && once) throw new InDoubtError(operation, error);
      isRetry ||= fate === 'in doubt';
      await pauses.next(error);
    }
  }
}

/** The pauses between the attempts of one call, limited in number and time. */
export class Pauses {
  readonly #operation: string;
  readonly #options: RetryOptions;
  readonly #endsAtMs: number;
  #attempts = 0;

  constructor(operation: string, options: RetryOptions) {
    this.#operation = operation;
    this.#options = options;
    this.#endsAtMs = steadyNow(options.clock) + RETRY_MS_MAX;
  }

  /** Pauses after an attempt that failed for a passing reason. Throws if it was the last one. */
  async next(cause: unknown): Promise<void> {
    const { clock, random, sleep } = this.#options;
    this.#attempts += 1;
    if (this.#attempts >= ATTEMPTS_MAX || steadyNow(clock) >= this.#endsAtMs)
      throw new ThrottledError(this.#operation, this.#attempts, cause);
    await sleep(random() * Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (this.#attempts - 1)));
  }

  /** A part of the call has succeeded, so the attempts for the rest are counted from zero. */
  begin(): void {
    this.#attempts = 0;
  }
}

/** Undefined: the same call would fail again. */
function fateOf(error: unknown): 'refused' | 'in doubt' | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (REFUSED.has(error.name) || REFUSED.has(code) || isPassingCancellation(error)) return 'refused';
  return IN_DOUBT.has(error.name) || IN_DOUBT.has(code) || statusOf(error) >= 500 ? 'in doubt' : undefined;
}

/** A transaction that did not take effect because of others, or of throttling. */
function isPassingCancellation(error: Error): boolean {
  if (error.name !== 'TransactionCanceledException' || !('CancellationReasons' in error)) return false;
  const reasons: unknown = error.CancellationReasons;
  return Array.isArray(reasons) && reasons.every(({ Code = 'None' }) => PASSING_REASONS.has(Code));
}

function statusOf(error: Error): number {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : 0;
}
