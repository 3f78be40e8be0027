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

/** DynamoDB, or the network before it, says that nothing was done. */
const REFUSED = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'ECONNREFUSED',
]);

/** Nobody says what was done. */
const IN_DOUBT = new Set([
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'ECONNRESET',
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
  let isRetry = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return { answer: await attempt(), isRetry };
    } catch (error) {
      const fate = fateOf(error);
      if (fate === undefined) throw error;
      isRetry ||= fate === 'in doubt';
      if (attempts === ATTEMPTS_MAX) throw new ThrottledError(operation, attempts, error);
      await sleep(random() * FIRST_PAUSE_MS * 2 ** (attempts - 1));
    }
  }
}

/** Undefined when the same call would fail again. */
function fateOf(error: unknown): 'refused' | 'in doubt' | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (REFUSED.has(error.name) || REFUSED.has(code)) return 'refused';
  return IN_DOUBT.has(error.name) || IN_DOUBT.has(code) || statusOf(error) >= 500 ? 'in doubt' : undefined;
}

function statusOf(error: Error): number {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : 0;
}
