import { TokenBucket } from './token-bucket.ts';

export interface LambdaQuotas {
  /** Concurrent executions of the account. */
  readonly concurrency: number;
  /** Environments that a function may start at once, and how many more after each ten seconds. */
  readonly scalingPerTenSeconds: number;
}

/** An environment serves at most this many requests a second by the account's quota, however fast it is. */
export const REQUESTS_PER_ENVIRONMENT_SECOND = 10;

export type Start = 'warm' | 'cold' | 'throttled';

/** Execution environments: an invocation that finds no idle one starts another, within the quotas. */
export class LambdaPool {
  running = 0;
  runningMax = 0;
  throttled = 0;
  coldStarts = 0;
  readonly #quotas: LambdaQuotas;
  readonly #newEnvironments: TokenBucket;
  readonly #requests: TokenBucket;
  #idle = 0;

  /** @param warm idle environments at the start */
  constructor(quotas: LambdaQuotas, warm = 0) {
    this.#quotas = quotas;
    const { concurrency, scalingPerTenSeconds } = quotas;
    this.#newEnvironments = new TokenBucket(scalingPerTenSeconds / 10, scalingPerTenSeconds);
    const perSecond = concurrency * REQUESTS_PER_ENVIRONMENT_SECOND;
    this.#requests = new TokenBucket(perSecond, perSecond);
    this.#idle = Math.min(warm, concurrency);
  }

  get environments(): number {
    return this.running + this.#idle;
  }

  enter(nowMs: number): Start {
    const start = this.#start(nowMs);
    if (start === 'throttled') {
      this.throttled += 1;
      return start;
    }
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    if (start === 'cold') this.coldStarts += 1;
    return start;
  }

  leave(): void {
    this.running -= 1;
    this.#idle += 1;
  }

  #start(nowMs: number): Start {
    if (this.running >= this.#quotas.concurrency || !this.#requests.take(nowMs)) return 'throttled';
    if (this.#idle > 0) {
      this.#idle -= 1;
      return 'warm';
    }
    return this.#newEnvironments.take(nowMs) ? 'cold' : 'throttled';
  }
}
