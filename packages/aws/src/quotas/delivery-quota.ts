import type { Awaitable, Clock, DeliveryQuota, Log, Publisher, QuotaScopes, WideFilter } from '@apus/broker';
import type { Meter } from '../metrics/meter.ts';
import { Audiences, type ShardCounter } from './audiences.ts';
import type { SharedMessageQuota } from './message-quota.ts';
import { tellExhausted } from './quota-log.ts';
import { costsOf, MINUTE_MS, perMinute } from './rates.ts';
import { type Accounts, type Exhausted, firstExhausted, SharedQuota } from './shared-quota.ts';

/** The parts of a deployment's quotas. */
export interface SharedQuotasOptions {
  readonly quotas: QuotaScopes;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

export interface SharedDeliveryQuotaOptions extends SharedQuotasOptions {
  readonly shards: ShardCounter;
  readonly messages: SharedMessageQuota;
}

/**
 * Limits the deliveries that one publisher causes, over all environments together. A minute's deliveries may come at
 * once; after that the rate holds. A wide filter is charged for its audience.
 */
export class SharedDeliveryQuota implements DeliveryQuota {
  readonly #options: SharedDeliveryQuotaOptions;
  readonly #quota: SharedQuota;
  readonly #audiences: Audiences;

  constructor(options: SharedDeliveryQuotaOptions) {
    const { accounts, clock, shards } = options;
    this.#options = options;
    this.#quota = new SharedQuota({ of: 'deliveries', debtMsMax: MINUTE_MS, accounts, clock });
    this.#audiences = new Audiences(shards, clock);
  }

  /** Returns at once, without a promise, unless an account has to be asked. */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): boolean | Promise<boolean> {
    if (wide.length > 0) return this.#takeWide(publisher, deliveries, wide);
    const exhausted = this.#take(publisher, deliveries);
    if (exhausted instanceof Promise) return exhausted.then((each) => this.#isTaken(each));
    return this.#isTaken(exhausted);
  }

  async #takeWide(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): Promise<boolean> {
    const audiences = await Promise.all(wide.map((filter) => this.#audiences.of(filter)));
    const wanted = audiences.reduce((sum, each) => sum + each, deliveries);
    return this.#isTaken(await this.#take(publisher, wanted));
  }

  #take({ identity, clientId }: Publisher, deliveries: number): Awaitable<Exhausted | undefined> {
    const costs = costsOf(this.#options.quotas, identity, ({ deliveriesPerMinuteMax }) =>
      perMinute(deliveries, deliveriesPerMinuteMax),
    );
    const takeMessages = () => this.#options.messages.take({ identity, clientId }, deliveries, this.#quota);
    return firstExhausted(this.#quota.take(identity, clientId, costs), takeMessages);
  }

  #isTaken(exhausted: Exhausted | undefined): boolean {
    if (exhausted === undefined) return true;
    tellExhausted(this.#options.log, this.#options.meter, exhausted);
    return false;
  }
}
