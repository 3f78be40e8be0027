import type {
  Awaitable,
  ExceededHolding,
  HoldingQuota,
  HoldingQuotas,
  Identity,
  Publisher,
  QuotaScopes,
  Reservation,
  RetainedHolder,
  SessionRef,
} from '@apus/broker';
import { quotaHolderKey, quotaHolderOf, retainedHolderOf, tenantQuotasOf } from '@apus/broker';
import { type HeldKind, type Holding, type Holdings, tenantHoldingKey } from './holdings.ts';
import type { HoldingAsk, SharedHoldings } from './shared-holdings.ts';

export interface LocalHoldingQuotaOptions {
  readonly quotas: QuotaScopes;
  /** What is held at this process. */
  readonly quotasHere: Pick<QuotaScopes, 'identity' | 'tenant'>;
  readonly holdings: Holdings;
  /** The weight of a session's subscriptions. */
  readonly weightOf: (session: SessionRef) => number;
  /** Counts of all processes, if there are others. */
  readonly shared?: SharedHoldings | undefined;
}

/** A limit that other processes count against as well. */
interface Bound {
  readonly scope: ExceededHolding['scope'];
  readonly key: string;
  readonly quotas: HoldingQuotas;
}

/**
 * Limits what identities and tenants hold. Stores in memory count exactly, and so do those of a cluster together
 * [SEC-QUOTA-5].
 */
export class LocalHoldingQuota implements HoldingQuota {
  readonly #options: LocalHoldingQuotaOptions;

  constructor(options: LocalHoldingQuotaOptions) {
    this.#options = options;
  }

  reserve(client: Publisher): Awaitable<ExceededHolding | Reservation | undefined> {
    return this.#exceededHere(client) ?? this.#reserveTogether(client);
  }

  reserveSubscriptions(client: Publisher, weight: number): Awaitable<Reservation | undefined> {
    const { shared } = this.#options;
    if (shared === undefined) return undefined;
    const answer = shared.reserve(asksFor(this.#bounds(client), 'subscriptions', weight));
    return answer instanceof Promise ? answer.then(reservationOf) : reservationOf(answer);
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
    const { holdings, quotasHere } = this.#options;
    const own = holdings.find(identity, clientId);
    const tenant = holdings.findTenant(identity.tenant);
    const ofIdentity = own && exceededOf(own, { ...quotasHere.identity, ...identity.quotas });
    if (ofIdentity !== undefined) return { of: ofIdentity, scope: 'identity' };
    const ofTenant = tenant && exceededOf(tenant, tenantQuotasOf(quotasHere, identity));
    return ofTenant && { of: ofTenant, scope: 'tenant' };
  }

  #reserveTogether(client: Publisher): Awaitable<ExceededHolding | Reservation | undefined> {
    const { shared } = this.#options;
    if (shared === undefined) return undefined;
    const bounds = this.#bounds(client);
    const answer = shared.reserve(asksOfConnect(bounds));
    const exceeded = (answer: Reservation | HoldingAsk): ExceededHolding | Reservation => {
      if ('release' in answer) return answer;
      const scope = answer.key === tenantHoldingKey(client.identity.tenant) ? 'tenant' : 'identity';
      return { of: answer.kind === 'connections' ? 'connections' : 'sessions', scope };
    };
    return answer instanceof Promise ? answer.then(exceeded) : exceeded(answer);
  }

  #roomHere({ identity, clientId }: Publisher): number {
    const { holdings, quotas } = this.#options;
    return Math.min(
      roomOf(holdings.find(identity, clientId), this.#quotasOf(identity).subscriptionsMax),
      roomOf(holdings.findTenant(identity.tenant), tenantQuotasOf(quotas, identity).subscriptionsMax),
    );
  }

  /** The limits of a client. A holder that is one client is at one process, which counts alone. */
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

function reservationOf(answer: Reservation | HoldingAsk): Reservation | undefined {
  return 'release' in answer ? answer : undefined;
}

/** Connections first: a client that takes over a connection takes over its session as well. */
function exceededOf(
  { connections, sessions }: Holding,
  { connectionsMax, sessionsMax }: HoldingQuotas,
): ExceededHolding['of'] | undefined {
  if (connectionsMax > 0 && connections >= connectionsMax) return 'connections';
  return sessionsMax > 0 && sessions >= sessionsMax ? 'sessions' : undefined;
}

/** 0: no limit. */
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

/** Nothing for limits of 0. */
function asksFor(bounds: readonly Bound[], kind: HeldKind, by: number): HoldingAsk[] {
  const asks: HoldingAsk[] = [];
  for (const { key, quotas } of bounds) {
    const max = quotas[MAXIMUM[kind]];
    if (max > 0) asks.push({ key, kind, by, max });
  }
  return asks;
}
