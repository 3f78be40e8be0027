import type {
  Awaitable,
  ExceededHolding,
  HoldingQuota,
  HoldingQuotas,
  Identity,
  Publisher,
  QuotaScopes,
  RetainedHolder,
  SessionRef,
} from '@apus/broker';
import { quotaHolderKey, quotaHolderOf, retainedHolderOf, tenantQuotasOf } from '@apus/broker';
import { type HeldKind, type Holding, type Holdings, tenantHoldingKey } from '@apus/store-memory';
import type { HoldingAsk, SharedHoldings } from './shared-holdings.ts';

export interface NodeHoldingQuotaOptions {
  readonly quotas: QuotaScopes;
  readonly holdings: Holdings;
  /** The weight of a session's subscriptions. */
  readonly weightOf: (session: SessionRef) => number;
  /** Where other processes count as well. */
  readonly shared?: SharedHoldings | undefined;
}

/** A quota that other processes count against as well. */
interface Bound {
  readonly scope: ExceededHolding['scope'];
  readonly key: string;
  readonly quotas: HoldingQuotas;
}

/** Bounds what identities and tenants hold. The stores of a node count, exactly, and those of a cluster together [SEC-QUOTA-5]. */
export class NodeHoldingQuota implements HoldingQuota {
  readonly #options: NodeHoldingQuotaOptions;

  constructor(options: NodeHoldingQuotaOptions) {
    this.#options = options;
  }

  exceededBy(client: Publisher): Awaitable<ExceededHolding | undefined> {
    return this.#exceededHere(client) ?? this.#exceededTogether(client);
  }

  opened(client: Publisher): void {
    const { shared } = this.#options;
    shared?.release(asksOfConnect(this.#bounds(client)));
  }

  reserveSubscriptions(client: Publisher, weight: number): Awaitable<void> {
    const { shared } = this.#options;
    if (shared === undefined) return undefined;
    return shared.reach(asksFor(this.#bounds(client), 'subscriptions', weight));
  }

  subscriptionsMax(client: Publisher, session: SessionRef, maximum: number): number {
    const { shared, weightOf } = this.#options;
    let room = this.#roomHere(client);
    if (shared !== undefined)
      for (const { key } of asksFor(this.#bounds(client), 'subscriptions', 0))
        room = Math.min(room, shared.room(key, 'subscriptions'));
    return room >= maximum ? maximum : Math.min(maximum, weightOf(session) + room);
  }

  retainedHolder(client: Publisher): RetainedHolder {
    return retainedHolderOf(this.#options.quotas.identity, client);
  }

  #exceededHere({ identity, clientId }: Publisher): ExceededHolding | undefined {
    const { holdings, quotas } = this.#options;
    const own = holdings.find(identity, clientId);
    const tenant = holdings.findTenant(identity.tenant);
    const ofIdentity = own && exceededOf(own, this.#quotasOf(identity));
    if (ofIdentity !== undefined) return { of: ofIdentity, scope: 'identity' };
    const ofTenant = tenant && exceededOf(tenant, tenantQuotasOf(quotas, identity));
    return ofTenant && { of: ofTenant, scope: 'tenant' };
  }

  #exceededTogether(client: Publisher): Awaitable<ExceededHolding | undefined> {
    const { shared } = this.#options;
    if (shared === undefined) return undefined;
    const bounds = this.#bounds(client);
    const asks = asksOfConnect(bounds);
    const refused = shared.reserve(asks);
    const exceeded = (index: number): ExceededHolding | undefined => {
      const ask = asks[index];
      const scope = bounds.find(({ key }) => key === ask?.key)?.scope;
      if (ask === undefined || scope === undefined || ask.kind === 'subscriptions') return undefined;
      return { of: ask.kind, scope };
    };
    return refused instanceof Promise ? refused.then(exceeded) : exceeded(refused);
  }

  #roomHere({ identity, clientId }: Publisher): number {
    const { holdings, quotas } = this.#options;
    return Math.min(
      roomOf(holdings.find(identity, clientId), this.#quotasOf(identity).subscriptionsMax),
      roomOf(holdings.findTenant(identity.tenant), tenantQuotasOf(quotas, identity).subscriptionsMax),
    );
  }

  /** The client of a holder that is one client is at one process: that counts alone. */
  #bounds({ identity, clientId }: Publisher): readonly Bound[] {
    const holder = quotaHolderOf(identity, clientId);
    const ofTenant = tenantQuotasOf(this.#options.quotas, identity);
    const tenant: Bound = { scope: 'tenant', key: tenantHoldingKey(identity.tenant), quotas: ofTenant };
    if (holder.kind === 'client') return [tenant];
    return [{ scope: 'identity', key: quotaHolderKey(holder), quotas: this.#quotasOf(identity) }, tenant];
  }

  #quotasOf(identity: Pick<Identity, 'quotas'>): HoldingQuotas {
    const { quotas } = this.#options;
    return identity.quotas === undefined ? quotas.identity : { ...quotas.identity, ...identity.quotas };
  }
}

/** Connections first: a client that takes over a connection takes over its session as well. */
function exceededOf(
  { connections, sessions }: Holding,
  { connectionsMax, sessionsMax }: HoldingQuotas,
): ExceededHolding['of'] | undefined {
  if (connectionsMax > 0 && connections >= connectionsMax) return 'connections';
  return sessionsMax > 0 && sessions >= sessionsMax ? 'sessions' : undefined;
}

/** 0 stands for any number. */
function roomOf(holding: Holding | undefined, maximum: number): number {
  if (maximum === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, maximum - (holding?.subscriptions ?? 0));
}

const MAXIMUM = {
  connections: 'connectionsMax',
  sessions: 'sessionsMax',
  subscriptions: 'subscriptionsMax',
} as const satisfies Record<HeldKind, keyof HoldingQuotas>;

function asksOfConnect(bounds: readonly Bound[]): readonly HoldingAsk[] {
  return bounds.flatMap((bound) => [
    ...asksFor([bound], 'connections', 1),
    ...asksFor([bound], 'sessions', 1),
  ]);
}

/** None where any number may be held. */
function asksFor(bounds: readonly Bound[], kind: HeldKind, by: number): HoldingAsk[] {
  const asks: HoldingAsk[] = [];
  for (const { key, quotas } of bounds) {
    const max = quotas[MAXIMUM[kind]];
    if (max > 0) asks.push({ key, kind, by, max });
  }
  return asks;
}
