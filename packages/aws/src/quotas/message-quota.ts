import type { Awaitable, Publisher } from '@apus/broker';
import type { SharedQuotasOptions } from './delivery-quota.ts';
import { costsOf, perMinute } from './rates.ts';
import { type Exhausted, SharedQuota } from './shared-quota.ts';

/**
 * How much may come at once, of the minute that the breaker counts: the rate and this burst stay below its limit.
 */
const BURST_MS = 10_000;

/**
 * Limits messages as the breaker counts them, for each tenant and for all together: frames and deliveries are charged
 * to one account. When it is used up busy clients are refused, even within their own quotas; a client that sends once
 * a second goes on, unharmed by the others [SEC-QUOTA-3].
 */
export class SharedMessageQuota {
  readonly #options: SharedQuotasOptions;
  readonly #quota: SharedQuota;

  constructor(options: SharedQuotasOptions) {
    const { accounts, clock } = options;
    this.#options = options;
    this.#quota = new SharedQuota({ of: 'messages', debtMsMax: BURST_MS, accounts, clock });
  }

  /** Whether, as far as is known here, the client would be refused. */
  isOverdrawn({ identity, clientId }: Publisher, own: SharedQuota): boolean {
    return this.#quota.isSharedOverdrawn(identity, clientId) && !own.isLight(identity, clientId);
  }

  /** @param own the client's own quota, which tells whether the client is busy */
  take(
    { identity, clientId }: Publisher,
    messages: number,
    own: SharedQuota,
  ): Awaitable<Exhausted | undefined> {
    const costs = costsOf(this.#options.quotas, identity, ({ messagesPerMinuteMax }) =>
      perMinute(messages, messagesPerMinuteMax),
    );
    const exhausted = this.#quota.take(identity, clientId, costs);
    const unlessLight = (each: Exhausted | undefined) =>
      each !== undefined && own.isLight(identity, clientId) ? undefined : each;
    return exhausted instanceof Promise ? exhausted.then(unlessLight) : unlessLight(exhausted);
  }
}
