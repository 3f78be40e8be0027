import {
  type Clock,
  type ExceededHolding,
  type HoldingQuota,
  type HoldingQuotas,
  type Identity,
  type Publisher,
  type QuotaScopes,
  quotaHolderKey,
  quotaHolderOf,
  type RetainedHolder,
  retainedHolderOf,
  type SessionRef,
  steadyNow,
  tenantQuotasOf,
} from '@apus/broker';
import {
  type HeldChange,
  type HoldingAccount,
  isSampled,
  type QuotaHoldings,
  sampleFor,
} from '@apus/store-dynamodb';

/** How long an environment refuses a full holder without asking the store again. */
const FULL_MS = 10_000;

/** The sweep is asked to count a full holder at most this often. */
const COUNT_EVERY_MS = 600_000;

/** Full holders that an environment remembers. Beyond it all are forgotten, and asked about again. */
const FULL_MAX = 10_000;

/** Connections and sessions that one write stands for, at most. */
const SAMPLE_MAX = { identity: 64, tenant: 1_024 } as const;

type Scope = ExceededHolding['scope'];

/** A holder that had no room when it was asked last. */
interface Full {
  readonly of: ExceededHolding['of'];
  untilMs: number;
  countAskedAtMs: number;
}

export interface SharedHoldingQuotaOptions {
  readonly quotas: QuotaScopes;
  readonly holdings: Pick<QuotaHoldings, 'change' | 'read' | 'askForCount'>;
  readonly clock: Clock;
}

/**
 * Counts connections and sessions of identities and tenants, over all environments together, approximately: one in
 * this many is written, as that many; its end takes as many away. A hash of the identifier selects them, so the count
 * does not drift as clients come and go. An environment learns from a write that a holder is full, and remembers it
 * for ten seconds. The sweep counts holders again that have refused a client (docs/fan-out.md, "What one identity may
 * hold") [SEC-QUOTA-6].
 */
export class SharedHoldingQuota implements HoldingQuota {
  readonly #options: SharedHoldingQuotaOptions;
  readonly #full = new Map<string, Full>();

  constructor(options: SharedHoldingQuotaOptions) {
    this.#options = options;
  }

  /** Returns at once, unless a holder may have room again, or each of its connections is counted. */
  reserve(client: Publisher): ExceededHolding | undefined | Promise<ExceededHolding | undefined> {
    const isToBeAsked = (['identity', 'tenant'] as const).some((scope) => this.#hasToAsk(scope, client));
    if (isToBeAsked) return this.#ask(client);
    for (const scope of ['identity', 'tenant'] as const) {
      const full = this.#full.get(quotaHolderKey(accountOf(scope, client)));
      if (full !== undefined) return { of: full.of, scope };
    }
    return undefined;
  }

  /**
   * Filters are limited for each session, and by the writes of a minute: adding up sessions would take a write for
   * each.
   */
  subscriptionsMax(_client: Publisher, _session: SessionRef, maximum: number): number {
    return maximum;
  }

  retainedHolder(client: Publisher): RetainedHolder {
    return retainedHolderOf(this.#options.quotas.identity, client);
  }

  /** A connection or a session has begun or ended. */
  async held({ of, id, by, identity, clientId }: HeldChange): Promise<void> {
    const client = { identity, clientId };
    for (const scope of ['identity', 'tenant'] as const) {
      const maximum = this.#maximum(scope, identity, of);
      const sample = sampleFor(maximum, SAMPLE_MAX[scope]);
      if (maximum === 0 || !isSampled(id, sample)) continue;
      const account = accountOf(scope, client);
      const count = await this.#options.holdings.change(account, of, by * sample);
      if (count !== undefined && count >= maximum) this.#note(account, of);
    }
  }

  #hasToAsk(scope: Scope, client: Publisher): boolean {
    const full = this.#full.get(quotaHolderKey(accountOf(scope, client)));
    if (full !== undefined) return full.untilMs <= steadyNow(this.#options.clock);
    const { identity } = client;
    return (['connections', 'sessions'] as const).some((of) => {
      const maximum = this.#maximum(scope, identity, of);
      return maximum > 0 && sampleFor(maximum, SAMPLE_MAX[scope]) === 1;
    });
  }

  async #ask(client: Publisher): Promise<ExceededHolding | undefined> {
    for (const scope of ['identity', 'tenant'] as const) {
      const of = await this.#exceeded(scope, client);
      if (of !== undefined) return { of, scope };
    }
    return undefined;
  }

  async #exceeded(scope: Scope, client: Publisher): Promise<ExceededHolding['of'] | undefined> {
    const account = accountOf(scope, client);
    const key = quotaHolderKey(account);
    const known = this.#full.get(key);
    if (!this.#hasToAsk(scope, client)) return known?.of;
    const counts = await this.#options.holdings.read(account);
    for (const of of ['connections', 'sessions'] as const) {
      const maximum = this.#maximum(scope, client.identity, of);
      if (maximum === 0 || counts[of] < maximum) continue;
      await this.#wantCount(account, this.#note(account, of));
      return of;
    }
    this.#full.delete(key);
    return undefined;
  }

  #note(account: HoldingAccount, of: ExceededHolding['of']): Full {
    const key = quotaHolderKey(account);
    if (this.#full.size >= FULL_MAX) this.#full.clear();
    const countAskedAtMs = this.#full.get(key)?.countAskedAtMs ?? Number.NEGATIVE_INFINITY;
    const full = { of, untilMs: steadyNow(this.#options.clock) + FULL_MS, countAskedAtMs };
    this.#full.set(key, full);
    return full;
  }

  async #wantCount(account: HoldingAccount, full: Full): Promise<void> {
    const nowMs = steadyNow(this.#options.clock);
    if (nowMs - full.countAskedAtMs < COUNT_EVERY_MS) return;
    full.countAskedAtMs = nowMs;
    await this.#options.holdings.askForCount(account);
  }

  #maximum(scope: Scope, identity: Pick<Identity, 'quotas' | 'plan'>, of: ExceededHolding['of']): number {
    const scopes = this.#options.quotas;
    const own: HoldingQuotas =
      scope === 'tenant' ? tenantQuotasOf(scopes, identity) : { ...scopes.identity, ...identity.quotas };
    return of === 'connections' ? own.connectionsMax : own.sessionsMax;
  }
}

function accountOf(scope: Scope, { identity, clientId }: Publisher): HoldingAccount {
  if (scope === 'identity') return quotaHolderOf(identity, clientId);
  return { tenant: identity.tenant, kind: 'tenant', name: '' };
}
