import type { Awaitable, Publisher, WriteQuota } from '@apus/broker';
import type { SharedQuotasOptions } from './delivery-quota.ts';
import { tellExhausted } from './quota-log.ts';
import { costsOf, MINUTE_MS, perMinute } from './rates.ts';
import { type Exhausted, SharedQuota } from './shared-quota.ts';

/** Read units that cost as much as one write, in DynamoDB. */
const READS_PER_WRITE = 5;

/**
 * Limits the writes to the table for one client [SEC-QUOTA-4], and in an account beside it what is read of retained
 * messages and streams [SEC-POOL-6]. A minute's writes, or reads, may come at once; after that the rate holds.
 */
export class SharedWriteQuota implements WriteQuota {
  readonly #options: SharedQuotasOptions;
  readonly #writes: SharedQuota;
  readonly #reads: SharedQuota;

  constructor(options: SharedQuotasOptions) {
    const { accounts, clock } = options;
    this.#options = options;
    this.#writes = new SharedQuota({ of: 'writes', debtMsMax: MINUTE_MS, accounts, clock });
    this.#reads = new SharedQuota({ of: 'reads', debtMsMax: MINUTE_MS, accounts, clock });
  }

  take(client: Publisher, writes: number): Awaitable<boolean> {
    return this.#take(this.#writes, client, writes);
  }

  takeReads(client: Publisher, units: number): Awaitable<boolean> {
    return this.#take(this.#reads, client, units / READS_PER_WRITE);
  }

  hasReadAll({ identity, clientId }: Publisher): boolean {
    return this.#reads.isOverdrawn(identity, clientId);
  }

  #take(quota: SharedQuota, { identity, clientId }: Publisher, writes: number): Awaitable<boolean> {
    const costs = costsOf(this.#options.quotas, identity, ({ writesPerMinuteMax }) =>
      perMinute(writes, writesPerMinuteMax),
    );
    const exhausted = quota.take(identity, clientId, costs);
    if (exhausted instanceof Promise) return exhausted.then((each) => this.#isTaken(each));
    return this.#isTaken(exhausted);
  }

  #isTaken(exhausted: Exhausted | undefined): boolean {
    if (exhausted === undefined) return true;
    tellExhausted(this.#options.log, this.#options.meter, exhausted);
    return false;
  }
}
