import { type Clock, steadyNow } from '@apus/broker';
import { addressGroup, LeakyCounts } from '@apus/identity';
import {
  CALLER_RATE,
  ENVIRONMENT_RATE,
  LIMITED_KEYS_MAX,
  type RequestRate,
  UNAUTHORIZED_RATE,
} from './publish/limits.ts';

const MS_PER_SECOND = 1_000;
/** Key of the bucket that all callers of an environment share. */
const ALL_CALLERS = '';

export interface RequestRates {
  /** Refused requests (401) of one address. @default UNAUTHORIZED_RATE */
  readonly unauthorized?: RequestRate;
  /** @default CALLER_RATE */
  readonly caller?: RequestRate;
  /** All callers together. @default ENVIRONMENT_RATE */
  readonly environment?: RequestRate;
}

/**
 * Limits the requests that one environment of the function takes, in its memory: environments share nothing, so that
 * a deployment's limit is this one times its concurrency. [SEC-COST-2]
 *
 * Refused requests are counted for their address, and the others for their caller: a flood of requests without a
 * valid key takes nothing from those that have one.
 */
export class RequestLimiter {
  readonly #clock: Clock;
  readonly #unauthorized: Buckets;
  readonly #callers: Buckets;
  readonly #environment: Buckets;

  constructor(clock: Clock, rates: RequestRates = {}) {
    this.#clock = clock;
    this.#unauthorized = new Buckets(rates.unauthorized ?? UNAUTHORIZED_RATE);
    this.#callers = new Buckets(rates.caller ?? CALLER_RATE);
    this.#environment = new Buckets(rates.environment ?? ENVIRONMENT_RATE);
  }

  /** Seconds that an address from which too many refused requests came has to wait; 0: none. */
  floodSeconds(address: string): number {
    return this.#unauthorized.waitSeconds(addressGroup(address), steadyNow(this.#clock));
  }

  /** Counts a request that was refused for its key. */
  unauthorized(address: string): void {
    this.#unauthorized.take(addressGroup(address), steadyNow(this.#clock));
  }

  /** Takes a request of a known caller. Returns the seconds that it has to wait; 0: it may come. */
  take(caller: string): number {
    const nowMs = steadyNow(this.#clock);
    const seconds = Math.max(
      this.#callers.waitSeconds(caller, nowMs),
      this.#environment.waitSeconds(ALL_CALLERS, nowMs),
    );
    if (seconds > 0) return seconds;
    this.#callers.take(caller, nowMs);
    this.#environment.take(ALL_CALLERS, nowMs);
    return 0;
  }
}

/** A token bucket for each key. */
class Buckets {
  readonly #rate: RequestRate;
  /** Requests that were taken and have not flowed back. */
  readonly #taken: LeakyCounts;

  constructor(rate: RequestRate) {
    this.#rate = rate;
    this.#taken = new LeakyCounts({
      leakMs: MS_PER_SECOND / rate.perSecond,
      countMax: rate.burst,
      keysMax: LIMITED_KEYS_MAX,
    });
  }

  waitSeconds(key: string, nowMs: number): number {
    const over = this.#taken.count(key, nowMs) + 1 - this.#rate.burst;
    return over > 0 ? Math.ceil(over / this.#rate.perSecond) : 0;
  }

  take(key: string, nowMs: number): void {
    this.#taken.add(key, nowMs);
  }
}
