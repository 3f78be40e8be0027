import type { Clock, DeliveryQuota, Log, Publisher, WideFilter } from '@apus/broker';
import type { DeliveryAccount, DeliveryAccounts, ShardName } from '@apus/store-dynamodb';
import { METRICS } from './lambda/metric-names.ts';
import type { Meter } from './meter.ts';
import { PublisherBalance } from './publisher-balance.ts';

const MINUTE_MS = 60_000;

/** Publishers that an environment remembers; beyond it all are forgotten, and each has its free deliveries again. */
const PUBLISHERS_MAX = 10_000;

/** Audiences that are remembered, and for how long: to count one reads a shard. */
const AUDIENCES_MAX = 1_000;
const AUDIENCE_MS = 60_000;

export interface SharedDeliveryQuotaOptions {
  /** Above 0. A burst of a minute's deliveries is let through; then as many as the minute has room for. */
  readonly deliveriesPerMinuteMax: number;
  /** `stores.deliveryAccounts`. */
  readonly accounts: Pick<DeliveryAccounts, 'charge'>;
  /** `stores.subscriptions`. */
  readonly shards: { countShard(shard: ShardName): Promise<number> };
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** Who stood in the shards of a filter when they were counted last. */
interface Audience {
  readonly shards: number;
  readonly subscribers: number;
  readonly countedAtMs: number;
}

/**
 * Bounds the deliveries that one publisher causes, over all environments together. What most publishers cause in a
 * minute is free, and known to nobody else; whoever causes more takes deliveries in lots from an account in the table,
 * a write for each lot, and is refused without one while the account is overdrawn (docs/fan-out.md, "What one identity
 * may cause").
 *
 *     environment A                      account (30,000 a minute)      environment B
 *     60 deliveries: free
 *     1 more: a lot of 250          →    250
 *     249 more: of the lot
 *                                        40,250                     ←   a wide message to 40,000
 *     a lot of 250: refused         ←    overdrawn by 10,250: for 21 s
 *     all else for 21 s: refused
 */
export class SharedDeliveryQuota implements DeliveryQuota {
  readonly #options: SharedDeliveryQuotaOptions;
  readonly #msPerDelivery: number;
  readonly #balances = new Map<string, PublisherBalance>();
  readonly #audiences = new Map<string, Audience>();

  constructor(options: SharedDeliveryQuotaOptions) {
    this.#options = options;
    this.#msPerDelivery = MINUTE_MS / options.deliveriesPerMinuteMax;
  }

  /** Answers at once, without a promise, as long as no account has to be asked. */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): boolean | Promise<boolean> {
    const account = accountOf(publisher);
    const balance = this.#balanceOf(account);
    if (wide.length === 0 && balance.take(deliveries, this.#options.clock.now())) return true;
    return this.#takeMore(account, balance, deliveries, wide);
  }

  async #takeMore(
    account: DeliveryAccount,
    balance: PublisherBalance,
    deliveries: number,
    wide: readonly WideFilter[],
  ): Promise<boolean> {
    const { accounts, clock, log } = this.#options;
    const audiences = await Promise.all(wide.map((filter) => this.#audienceOf(filter)));
    const wanted = audiences.reduce((sum, each) => sum + each, deliveries);
    if (balance.take(wanted, clock.now())) return true;
    if (balance.isOverdrawn(clock.now())) return this.#refuse();
    const lot = balance.lotFor(wanted);
    const costMs = Math.ceil(lot * this.#msPerDelivery);
    const charged = await accounts.charge(account, costMs, MINUTE_MS, balance.isInDebt(clock.now()));
    const nowMs = clock.now();
    balance.charged(charged.debtEndsAtMs, charged.isTaken ? lot : 0, nowMs);
    if (charged.isTaken) return balance.take(wanted, nowMs);
    log.warn('identity-limited', { ...account, forMs: charged.debtEndsAtMs - MINUTE_MS - nowMs });
    return this.#refuse();
  }

  #refuse(): false {
    this.#options.meter.add(METRICS.identitiesLimited);
    return false;
  }

  #balanceOf({ tenant, kind, name }: DeliveryAccount): PublisherBalance {
    const key = `${tenant}\0${kind}\0${name}`;
    let balance = this.#balances.get(key);
    if (balance === undefined) {
      if (this.#balances.size >= PUBLISHERS_MAX) this.#balances.clear();
      balance = new PublisherBalance(this.#options.deliveriesPerMinuteMax);
      this.#balances.set(key, balance);
    }
    return balance;
  }

  /** About how many stand in the shards of a filter. */
  async #audienceOf({ tenant, topicFilter, shards }: WideFilter): Promise<number> {
    const key = `${tenant}\0${topicFilter}`;
    const nowMs = this.#options.clock.now();
    const known = this.#audiences.get(key);
    if (known?.shards === shards && nowMs - known.countedAtMs < AUDIENCE_MS) return known.subscribers;
    const counts = await Promise.all(
      samplesOf(shards).map(async ({ shard, alike }) => {
        return alike * (await this.#options.shards.countShard({ tenant, topicFilter, shard }));
      }),
    );
    const subscribers = counts.reduce((sum, each) => sum + each, 0);
    if (this.#audiences.size >= AUDIENCES_MAX) this.#audiences.clear();
    this.#audiences.set(key, { shards, subscribers, countedAtMs: nowMs });
    return subscribers;
  }
}

function accountOf({ identity: { tenant, name }, clientId }: Publisher): DeliveryAccount {
  return name === '' ? { tenant, kind: 'client', name: clientId } : { tenant, kind: 'identity', name };
}

/**
 * One shard for all those that came with the same doubling: nobody is moved, so they are about as full as each other,
 * and fuller than those that came later.
 *
 *     shards 0 | 1 | 2 3 | 4 5 6 7     samples 0, 1, 2 for two, 4 for four
 */
function samplesOf(shards: number): { readonly shard: number; readonly alike: number }[] {
  const samples = [{ shard: 0, alike: 1 }];
  for (let shard = 1; shard < shards; shard *= 2) samples.push({ shard, alike: shard });
  return samples;
}
