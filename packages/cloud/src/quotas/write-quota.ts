import type { Publisher, WriteQuota } from '@apus/broker';
import type { SharedQuotasOptions } from './delivery-quota.ts';
import { tellExhausted } from './quota-log.ts';
import { costsOf, MINUTE_MS, perMinute } from './rates.ts';
import { type Exhausted, SharedQuota } from './shared-quota.ts';

/**
 * Limits the writes to the table for one client: a minute's writes may come at once; after that the rate holds
 * [SEC-QUOTA-4].
 */
export class SharedWriteQuota implements WriteQuota {
  readonly #options: SharedQuotasOptions;
  readonly #quota: SharedQuota;

  constructor(options: SharedQuotasOptions) {
    const { accounts, clock } = options;
    this.#options = options;
    this.#quota = new SharedQuota({ of: 'writes', debtMsMax: MINUTE_MS, accounts, clock });
  }

  take({ identity, clientId }: Publisher, writes: number): boolean | Promise<boolean> {
    const costs = costsOf(this.#options.quotas, identity, ({ writesPerMinuteMax }) =>
      perMinute(writes, writesPerMinuteMax),
    );
    const exhausted = this.#quota.take(identity, clientId, costs);
    if (exhausted instanceof Promise) return exhausted.then((each) => this.#isTaken(each));
    return this.#isTaken(exhausted);
  }

  #isTaken(exhausted: Exhausted | undefined): boolean {
    if (exhausted === undefined) return true;
    tellExhausted(this.#options.log, this.#options.meter, exhausted);
    return false;
  }
}
