import { ThrottledError } from './errors.ts';
import { ATTEMPTS_MAX, FIRST_PAUSE_MS } from './limits.ts';

export interface RetryOptions {
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The answer, and whether an earlier attempt may have done its work although its answer was lost. */
export interface Answered<T> {
  readonly answer: T;
  readonly isRetry: boolean;
}

const PASSING = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionConflictException',
  'TimeoutError',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
]);

/**
 * Tries again, after pauses with full jitter, what failed for a reason that passes. Every write of this store is
 * conditional on not having been made, or leaves the same item when it is made twice.
 */
export async function withRetries<T>(
  operation: string,
  { sleep, random }: RetryOptions,
  attempt: () => Promise<T>,
): Promise<Answered<T>> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return { answer: await attempt(), isRetry: attempts > 1 };
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (attempts === ATTEMPTS_MAX) throw new ThrottledError(operation, attempts, error);
      await sleep(random() * FIRST_PAUSE_MS * 2 ** (attempts - 1));
    }
  }
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return PASSING.has(error.name) || PASSING.has(code) || statusOf(error) >= 500;
}

function statusOf(error: Error): number {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : 0;
}
