import {
  type Clock,
  type DeliveryQuota,
  type Identity,
  type Publisher,
  type QuotaHolder,
  type QuotaScopes,
  quotaHolderOf,
  type RateQuotas,
  tenantQuotasOf,
} from '@apus/broker';
import type { Packet } from '@apus/mqtt';
import { RateAccount } from './rate-account.ts';
import type { RateBank } from './shared-rates.ts';

/**
 * A debt up to this is a burst, and stops no client. One second: a client that comes back may send its stored messages,
 * and an identity that uses all of its burst at once delays others for no longer than its share of a second.
 */
export const BURST_MS = 1_000;

/** Accounts that are kept. Beyond it those without a debt are forgotten, which changes nothing for their holders. */
const ACCOUNTS_MAX = 20_000;

/** The accounts that one client is charged to: its identity's, its tenant's, and that of all together. */
export class Charges {
  readonly #identity: RateAccount;
  readonly #tenant: RateAccount;
  readonly #all: RateAccount;

  constructor(identity: RateAccount, tenant: RateAccount, all: RateAccount) {
    this.#identity = identity;
    this.#tenant = tenant;
    this.#all = all;
  }

  packet(packet: Packet, nowMs: number): void {
    if (packet.type === 'publish') {
      this.#identity.chargePublishes(1, nowMs);
      this.#tenant.chargePublishes(1, nowMs);
      this.#all.chargePublishes(1, nowMs);
      return;
    }
    const count = weightOf(packet);
    this.#identity.chargePackets(count, nowMs);
    this.#tenant.chargePackets(count, nowMs);
    this.#all.chargePackets(count, nowMs);
  }

  /** Several packets that came together. */
  frame(publishes: number, others: number, bytes: number, nowMs: number): void {
    for (const account of [this.#identity, this.#tenant, this.#all]) {
      account.chargePublishes(publishes, nowMs);
      account.chargePackets(others, nowMs);
      account.chargeBytes(bytes, nowMs);
    }
  }

  bytes(bytes: number, nowMs: number): void {
    this.#identity.chargeBytes(bytes, nowMs);
    this.#tenant.chargeBytes(bytes, nowMs);
    this.#all.chargeBytes(bytes, nowMs);
  }

  deliveries(count: number, nowMs: number): void {
    this.#identity.chargeDeliveries(count, nowMs);
    this.#tenant.chargeDeliveries(count, nowMs);
    this.#all.chargeDeliveries(count, nowMs);
  }

  /** The longest of the debts. */
  debtMs(nowMs: number): number {
    return Math.max(this.#identity.debtMs(nowMs), this.#tenant.debtMs(nowMs), this.#all.debtMs(nowMs));
  }

  /** The longest of the waits: until the debt is worked off, or known. */
  waitMs(nowMs: number): number {
    return Math.max(this.#identity.waitMs(nowMs), this.#tenant.waitMs(nowMs), this.#all.waitMs(nowMs));
  }

  /** The debt is the identity's own doing. */
  isOwnDebt(nowMs: number): boolean {
    return this.#identity.debtMs(nowMs) > BURST_MS;
  }
}

/** Each filter is a walk through the tree of all of them. */
function weightOf(packet: Packet): number {
  if (packet.type === 'subscribe') return packet.subscriptions.length;
  return packet.type === 'unsubscribe' ? packet.topicFilters.length : 1;
}

/** The rates of identities, tenants and all together, at this node or at all processes of a cluster. */
export class RateQuota implements DeliveryQuota {
  readonly #quotas: QuotaScopes;
  readonly #clock: Clock;
  readonly #bank: RateBank | undefined;
  readonly #all: RateAccount;
  readonly #accounts = new Map<string, RateAccount>();
  /** The charges of the identities of open connections, so that a message finds them without building a key. */
  readonly #charges = new WeakMap<Pick<Identity, 'tenant' | 'name'>, Charges>();

  /** @param bank where other processes charge the same accounts */
  constructor(quotas: QuotaScopes, clock: Clock, bank?: RateBank) {
    this.#quotas = quotas;
    this.#clock = clock;
    this.#bank = bank;
    this.#all = this.#open('all', quotas.broker);
  }

  /** `identity` is an object of this connection's own. */
  chargesOf(identity: Identity, clientId: string): Charges {
    const known = this.#charges.get(identity);
    if (known !== undefined) return known;
    const charges = this.#chargesTo(quotaHolderOf(identity, clientId), identity);
    this.#charges.set(identity, charges);
    return charges;
  }

  /** Deliveries are charged and never refused: the publisher waits instead. */
  take({ identity, clientId }: Publisher, deliveries: number): boolean {
    this.chargesOf(identity, clientId).deliveries(deliveries, this.#clock.now());
    return true;
  }

  #chargesTo(holder: QuotaHolder, identity: Pick<Identity, 'quotas' | 'plan'>): Charges {
    const { tenant, kind, name } = holder;
    const quotas = { ...this.#quotas.identity, ...identity.quotas };
    // The client of a holder that is one client is at one process.
    const isAlone = kind === 'client';
    const own = this.#account(`${kind}\0${tenant}\0${name}`, quotas, isAlone);
    // The last credential that was shown counts: an older one may have brought others.
    own.setRates(quotas);
    const ofTenant = tenantQuotasOf(this.#quotas, identity);
    const shared = this.#account(`tenant\0${tenant}`, ofTenant, false);
    shared.setRates(ofTenant);
    return new Charges(own, shared, this.#all);
  }

  #account(key: string, quotas: RateQuotas, isAlone: boolean): RateAccount {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      if (this.#accounts.size >= ACCOUNTS_MAX) this.#forgetIdle();
      account = isAlone ? new RateAccount(quotas) : this.#open(key, quotas);
      this.#accounts.set(key, account);
    }
    return account;
  }

  #open(key: string, quotas: RateQuotas): RateAccount {
    return this.#bank?.account(key, quotas) ?? new RateAccount(quotas);
  }

  /** Connections keep the accounts that they have: a holder whose account was forgotten may get a second one. */
  #forgetIdle(): void {
    const nowMs = this.#clock.now();
    for (const [key, account] of this.#accounts) if (account.debtMs(nowMs) <= 0) this.#accounts.delete(key);
    if (this.#accounts.size >= ACCOUNTS_MAX) this.#accounts.clear();
  }
}
