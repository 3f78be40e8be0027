import {
  type Awaitable,
  type Clock,
  type Identity,
  type QuotaHolder,
  quotaHolderOf,
  steadyNow,
} from '@apus/broker';
import type { QuotaScope } from '@apus/door';
import type { QuotaAccount, QuotaAccounts } from '@apus/store-dynamodb';
import { TimeBalance } from './time-balance.ts';

/** Holders that an environment remembers. Beyond it all are forgotten, and each has its free part again. */
const BALANCES_MAX = 10_000;

/** Where quotas are charged: `stores.quotaAccounts`. */
export type Accounts = Pick<QuotaAccounts, 'charge'>;

export interface SharedQuotaOptions {
  readonly of: QuotaAccount['of'];
  /** How long the account may take to work its debt off: so much may come at once. */
  readonly debtMsMax: number;
  readonly accounts: Accounts;
  readonly clock: Clock;
}

/** The cost of an action to the account of each scope, in milliseconds. */
export type Costs = Readonly<Record<QuotaScope, number>>;

/** The quota that is used up. */
export interface Exhausted {
  readonly scope: QuotaScope;
  readonly account: QuotaAccount;
  /** How long the account refuses. */
  readonly forMs: number;
  /** The account still gave when this environment asked last. */
  readonly isNews: boolean;
}

/**
 * Rates that hold over all environments together. A rate is kept as time: an action costs the time that it takes at
 * this rate, and an account is the time until which everything is paid for. The needs of most holders are free in each
 * environment, and known there alone. A holder that needs more takes time in lots from its account in the table, one
 * write for each lot, and is refused without a write while the account is overdrawn (docs/fan-out.md, "What one
 * identity may cause").
 *
 *     environment A                      account (a minute)             environment B
 *     60 deliveries, 2 ms each: free
 *     1 more: a lot of 500 ms       →    500 ms
 *     249 more: of the lot
 *                                        80.5 s                     ←   a wide message to 40,000
 *     a lot of 500 ms: refused      ←    overdrawn by 20.5 s
 *     all else for 20.5 s: refused
 */
export class SharedQuota {
  readonly #options: SharedQuotaOptions;
  readonly #balances = new Map<string, TimeBalance>();

  constructor(options: SharedQuotaOptions) {
    this.#options = options;
  }

  /** Charges the identity, then its tenant, then all together. Returns at once unless an account has to be asked. */
  take(
    identity: Pick<Identity, 'tenant' | 'name' | 'address'>,
    clientId: string,
    costs: Costs,
  ): Exhausted | undefined | Promise<Exhausted | undefined> {
    const holder = quotaHolderOf(identity, clientId);
    const nowMs = steadyNow(this.#options.clock);
    if (this.#takeKnown('identity', holder, costs, nowMs)) {
      if (this.#takeKnown('tenant', holder, costs, nowMs)) {
        if (this.#takeKnown('broker', holder, costs, nowMs)) return undefined;
        return this.#takeFrom(['broker'], holder, costs);
      }
      return this.#takeFrom(['tenant', 'broker'], holder, costs);
    }
    return this.#takeFrom(['identity', 'tenant', 'broker'], holder, costs);
  }

  /** Whether this environment knows that the identity's account refuses now. */
  isOverdrawn(identity: Pick<Identity, 'tenant' | 'name' | 'address'>, clientId: string): boolean {
    return this.#ownBalance(identity, clientId)?.isOverdrawn(steadyNow(this.#options.clock)) ?? false;
  }

  /** Whether, as far as this environment knows, the identity is hardly busy: others have used up the shared rate. */
  isLight(identity: Pick<Identity, 'tenant' | 'name' | 'address'>, clientId: string): boolean {
    return this.#ownBalance(identity, clientId)?.isLight(steadyNow(this.#options.clock)) ?? true;
  }

  /** Adds to a debt, once, so that the account refuses for this long. */
  async fine(account: QuotaAccount, fineMs: number): Promise<void> {
    const { accounts, clock, debtMsMax } = this.#options;
    const charged = await accounts.charge(account, fineMs, debtMsMax + fineMs, true);
    this.#balanceOf(account).charged(charged.debtMs, 0, steadyNow(clock));
  }

  /** Whether this environment knows that the account of the tenant, or of all together, refuses now. */
  isSharedOverdrawn(identity: Pick<Identity, 'tenant' | 'name' | 'address'>, clientId: string): boolean {
    const holder = quotaHolderOf(identity, clientId);
    const nowMs = steadyNow(this.#options.clock);
    return (['tenant', 'broker'] as const).some((scope) =>
      this.#balances.get(keyOf(this.#account(scope, holder)))?.isOverdrawn(nowMs),
    );
  }

  #ownBalance(
    identity: Pick<Identity, 'tenant' | 'name' | 'address'>,
    clientId: string,
  ): TimeBalance | undefined {
    return this.#balances.get(keyOf(this.#account('identity', quotaHolderOf(identity, clientId))));
  }

  #takeKnown(scope: QuotaScope, holder: QuotaHolder, costs: Costs, nowMs: number): boolean {
    const costMs = costs[scope];
    return costMs === 0 || this.#balanceOf(this.#account(scope, holder)).take(costMs, nowMs);
  }

  async #takeFrom(
    scopes: readonly QuotaScope[],
    holder: QuotaHolder,
    costs: Costs,
  ): Promise<Exhausted | undefined> {
    for (const scope of scopes) {
      if (costs[scope] === 0) continue;
      const exhausted = await this.#takeLot(scope, this.#account(scope, holder), costs[scope]);
      if (exhausted !== undefined) return exhausted;
    }
    return undefined;
  }

  async #takeLot(scope: QuotaScope, account: QuotaAccount, costMs: number): Promise<Exhausted | undefined> {
    const { accounts, clock, debtMsMax } = this.#options;
    const balance = this.#balanceOf(account);
    if (balance.take(costMs, steadyNow(clock))) return undefined;
    const exhausted = (): Exhausted => {
      return {
        scope,
        account,
        isNews: balance.refuse(),
        forMs: balance.debtMs(steadyNow(clock)) - debtMsMax,
      };
    };
    if (balance.isOverdrawn(steadyNow(clock))) return exhausted();
    const lotMs = balance.lotMsFor(costMs);
    const charged = await accounts.charge(account, lotMs, debtMsMax, balance.isInDebt(steadyNow(clock)));
    const nowMs = steadyNow(clock);
    balance.charged(charged.debtMs, charged.isTaken ? lotMs : 0, nowMs);
    // The lot is in the balance now; this cost is taken from it first.
    if (charged.isTaken && balance.take(costMs, nowMs)) return undefined;
    return exhausted();
  }

  #account(scope: QuotaScope, { tenant, kind, name }: QuotaHolder): QuotaAccount {
    const { of } = this.#options;
    switch (scope) {
      case 'identity':
        return { tenant, kind, name, of };
      case 'tenant':
        return { tenant, kind: 'tenant', name: '', of };
      case 'broker':
        return { tenant: '', kind: 'broker', name: '', of };
    }
  }

  #balanceOf(account: QuotaAccount): TimeBalance {
    const key = keyOf(account);
    let balance = this.#balances.get(key);
    if (balance === undefined) {
      if (this.#balances.size >= BALANCES_MAX) this.#balances.clear();
      balance = new TimeBalance(this.#options.debtMsMax);
      this.#balances.set(key, balance);
    }
    return balance;
  }
}

/** Asks the second only if the first has accepted. Returns at once if both do. */
export function firstExhausted(
  first: Awaitable<Exhausted | undefined>,
  second: () => Awaitable<Exhausted | undefined>,
): Awaitable<Exhausted | undefined> {
  if (first instanceof Promise) return first.then((exhausted) => exhausted ?? second());
  return first ?? second();
}

function keyOf({ tenant, kind, name }: QuotaAccount): string {
  return `${kind}\0${tenant}\0${name}`;
}
