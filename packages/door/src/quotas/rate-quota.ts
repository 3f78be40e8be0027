import {
  type Clock,
  type DeliveryPayer,
  type DeliveryQuota,
  type Identity,
  type Publisher,
  type QuotaScopes,
  quotaHolderKey,
  quotaHolderOf,
  type RateQuotas,
  steadyNow,
  tenantQuotasOf,
  type WideFilter,
} from '@apus/broker';
import type { Packet } from '@apus/mqtt';
import type { FrameContents } from './frame-quota.ts';
import { MinuteMeter } from './minute-meter.ts';
import { RateAccount } from './rate-account.ts';
import type { RateBank } from './shared-rates.ts';

/**
 * A debt up to this is a burst, and no client waits for it. One second: a client that comes back may send its stored
 * messages, and an identity that uses all of its burst at once delays others for no longer than its share of a second.
 */
export const BURST_MS = 1_000;

/**
 * Accounts of identities, and as many of tenants, that are kept. Beyond it idle ones are forgotten, which makes no
 * difference to their holders. Identities of one tenant may push each other out, but no tenant.
 */
const ACCOUNTS_MAX = 20_000;

/** The accounts of one client: its identity's, its tenant's, and that of all together. */
export class Charges {
  readonly #identity: RateAccount;
  readonly #tenant: RateAccount;
  readonly #all: RateAccount;
  readonly #holder: string | undefined;

  /** @param holder the name by which other processes charge the identity; undefined: they do not */
  constructor(identity: RateAccount, tenant: RateAccount, all: RateAccount, holder: string | undefined) {
    this.#identity = identity;
    this.#tenant = tenant;
    this.#all = all;
    this.#holder = holder;
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

  /** Charges frames of the gateway door, and the packets in them. */
  frame({ frames, packets, publishes, bytes }: FrameContents, nowMs: number): void {
    for (const account of [this.#identity, this.#tenant, this.#all]) {
      account.chargeFrames(frames, nowMs);
      account.chargePublishes(publishes, nowMs);
      account.chargePackets(packets - publishes, nowMs);
      account.chargeBytes(bytes, nowMs);
    }
  }

  bytes(bytes: number, nowMs: number): void {
    this.#identity.chargeBytes(bytes, nowMs);
    this.#tenant.chargeBytes(bytes, nowMs);
    this.#all.chargeBytes(bytes, nowMs);
  }

  deliveries(count: number, nowMs: number, elsewhere: number): void {
    this.#identity.chargeDeliveries(count, nowMs, elsewhere);
    this.#tenant.chargeDeliveries(count, nowMs, elsewhere);
    this.#all.chargeDeliveries(count, nowMs, elsewhere);
  }

  payer(): DeliveryPayer | undefined {
    const [identityMs, tenantMs] = [this.#identity.msPerDelivery, this.#tenant.msPerDelivery];
    if (identityMs + tenantMs + this.#all.msPerDelivery === 0) return undefined;
    return { holder: identityMs > 0 ? this.#holder : undefined, identityMs, tenantMs, paid: 1 };
  }

  /** The longest of the debts. */
  debtMs(nowMs: number): number {
    return Math.max(this.#identity.debtMs(nowMs), this.#tenant.debtMs(nowMs), this.#all.debtMs(nowMs));
  }

  /** The longest of the waits: until the debt is worked off, or is known. */
  waitMs(nowMs: number): number {
    return Math.max(this.#identity.waitMs(nowMs), this.#tenant.waitMs(nowMs), this.#all.waitMs(nowMs));
  }

  /** Whether the debt is the identity's own. */
  isOwnDebt(nowMs: number): boolean {
    return this.#identity.debtMs(nowMs) > BURST_MS;
  }
}

/** Each filter is a walk through the tree of all of them. */
function weightOf(packet: Packet): number {
  if (packet.type === 'subscribe') return packet.subscriptions.length;
  return packet.type === 'unsubscribe' ? packet.topicFilters.length : 1;
}

/** The rates of identities, tenants and all clients, at this node or at all processes of a cluster. */
export class RateQuota implements DeliveryQuota {
  readonly #quotas: QuotaScopes;
  readonly #clock: Clock;
  readonly #bank: RateBank | undefined;
  readonly #all: RateAccount;
  readonly #identities = new Map<string, RateAccount>();
  readonly #tenants = new Map<string, RateAccount>();
  /** The charges of connected identities, so that a message finds them without making a key. */
  readonly #charges = new WeakMap<Pick<Identity, 'tenant' | 'name'>, Charges>();

  /** @param bank where other processes charge the same accounts */
  constructor(quotas: QuotaScopes, clock: Clock, bank?: RateBank) {
    this.#quotas = quotas;
    this.#clock = clock;
    this.#bank = bank;
    this.#all = this.#open('all', quotas.broker, new MinuteMeter());
  }

  /** `identity` is an object of this connection alone. From now on its holder has the quotas that it names. */
  chargesOf(identity: Identity, clientId: string): Charges {
    return this.#charges.get(identity) ?? this.#chargesTo(identity, clientId, true);
  }

  /**
   * Charges deliveries and refuses none: the publisher waits instead. A publisher without a connection, as for a will
   * or a delayed message, may name quotas that its holder has no more.
   */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): boolean {
    // A process that spends nothing does not hear what others spend.
    this.#chargesNow(publisher).deliveries(deliveries, steadyNow(this.#clock), Math.min(1, wide.length));
    return true;
  }

  payerOf(publisher: Publisher): DeliveryPayer | undefined {
    return this.#chargesNow(publisher).payer();
  }

  charge(tenant: string, { holder, identityMs, tenantMs, paid }: DeliveryPayer, deliveries: number): void {
    const nowMs = steadyNow(this.#clock);
    const { identity, tenant: ofTenants } = this.#quotas;
    if (holder !== undefined)
      this.#identityAccount(holder, identity).chargeRelayed(deliveries, nowMs, identityMs, paid);
    if (tenantMs > 0) this.#tenantAccount(tenant, ofTenants).chargeRelayed(deliveries, nowMs, tenantMs, paid);
    this.#all.chargeRelayed(deliveries, nowMs, this.#all.msPerDelivery, paid);
  }

  #chargesNow({ identity, clientId }: Publisher): Charges {
    return this.#charges.get(identity) ?? this.#chargesTo(identity, clientId, false);
  }

  /**
   * Deliveries of the last minute at this process, if a quota limits them.
   *
   * @param tenant whose clients have caused them; undefined: all tenants
   */
  deliveriesOfLastMinute(tenant: string | undefined): number {
    const account = tenant === undefined ? this.#all : this.#tenants.get(tenantKey(tenant));
    return account?.deliveriesOfLastMinute(steadyNow(this.#clock)) ?? 0;
  }

  #chargesTo(identity: Publisher['identity'], clientId: string, isShown: boolean): Charges {
    const holder = quotaHolderOf(identity, clientId);
    const { tenant, kind } = holder;
    const quotas = { ...this.#quotas.identity, ...identity.quotas };
    const key = quotaHolderKey(holder);
    // A holder that is one client is at one process, which keeps its account alone.
    const isAlone = kind === 'client';
    const own = this.#identityAccount(key, quotas, isAlone);
    // The latest credential counts: an older one may have other quotas.
    if (isShown) own.setRates(quotas);
    const ofTenant = tenantQuotasOf(this.#quotas, identity);
    const shared = this.#tenantAccount(tenant, ofTenant);
    if (isShown) shared.setRates(ofTenant);
    const charges = new Charges(own, shared, this.#all, isAlone ? undefined : key);
    this.#charges.set(identity, charges);
    return charges;
  }

  #identityAccount(key: string, quotas: RateQuotas, isAlone = false): RateAccount {
    const open = () => (isAlone ? new RateAccount(quotas) : this.#open(key, quotas));
    return this.#account(this.#identities, key, open);
  }

  #tenantAccount(tenant: string, quotas: RateQuotas): RateAccount {
    const key = tenantKey(tenant);
    return this.#account(this.#tenants, key, () => this.#open(key, quotas, new MinuteMeter()));
  }

  #account(accounts: Map<string, RateAccount>, key: string, open: () => RateAccount): RateAccount {
    let account = accounts.get(key);
    if (account === undefined) {
      if (accounts.size >= ACCOUNTS_MAX) this.#forgetIdle(accounts);
      account = open();
      accounts.set(key, account);
    }
    return account;
  }

  #open(key: string, quotas: RateQuotas, delivered?: MinuteMeter): RateAccount {
    return this.#bank?.account(key, quotas, delivered) ?? new RateAccount(quotas, delivered);
  }

  /** Connections keep their accounts, so a holder whose account was forgotten may get a second one. */
  #forgetIdle(accounts: Map<string, RateAccount>): void {
    const nowMs = steadyNow(this.#clock);
    for (const [key, account] of accounts) if (account.isIdle(nowMs)) accounts.delete(key);
    if (accounts.size >= ACCOUNTS_MAX) accounts.clear();
  }
}

/** A key that no identity has. */
function tenantKey(tenant: string): string {
  return `tenant\0${tenant}`;
}
