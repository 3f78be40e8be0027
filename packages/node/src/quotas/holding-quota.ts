import type {
  ExceededHolding,
  HoldingQuota,
  HoldingQuotas,
  Identity,
  Publisher,
  QuotaScopes,
  RetainedHolder,
  SessionRef,
} from '@apus/broker';
import { retainedHolderOf, tenantQuotasOf } from '@apus/broker';
import type { Holding, Holdings } from '@apus/store-memory';

export interface NodeHoldingQuotaOptions {
  readonly quotas: QuotaScopes;
  readonly holdings: Holdings;
  /** The weight of a session's subscriptions. */
  readonly weightOf: (session: SessionRef) => number;
}

/** Bounds what identities and tenants hold at this node. Its stores count, exactly [SEC-QUOTA-5]. */
export class NodeHoldingQuota implements HoldingQuota {
  readonly #options: NodeHoldingQuotaOptions;

  constructor(options: NodeHoldingQuotaOptions) {
    this.#options = options;
  }

  exceededBy({ identity, clientId }: Publisher): ExceededHolding | undefined {
    const { holdings, quotas } = this.#options;
    const own = holdings.find(identity, clientId);
    const tenant = holdings.findTenant(identity.tenant);
    const ofIdentity = own && exceededOf(own, this.#quotasOf(identity));
    if (ofIdentity !== undefined) return { of: ofIdentity, scope: 'identity' };
    const ofTenant = tenant && exceededOf(tenant, tenantQuotasOf(quotas, identity));
    return ofTenant && { of: ofTenant, scope: 'tenant' };
  }

  subscriptionsMax({ identity, clientId }: Publisher, session: SessionRef, maximum: number): number {
    const { holdings, quotas, weightOf } = this.#options;
    const ownRoom = roomOf(holdings.find(identity, clientId), this.#quotasOf(identity).subscriptionsMax);
    const tenantRoom = roomOf(
      holdings.findTenant(identity.tenant),
      tenantQuotasOf(quotas, identity).subscriptionsMax,
    );
    const room = Math.min(ownRoom, tenantRoom);
    return room >= maximum ? maximum : Math.min(maximum, weightOf(session) + room);
  }

  retainedHolder(client: Publisher): RetainedHolder {
    return retainedHolderOf(this.#options.quotas.identity, client);
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
