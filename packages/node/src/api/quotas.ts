import { type QuotaInForce, quotasInForce } from '@apus/broker';
import type { ApiAnswer } from './answer.ts';
import type { ApiContext } from './context.ts';
import type { Handlers } from './router.ts';
import { type Asked, ofProcess } from './shared-handlers.ts';

/** Limits of a tenant, of its identities and of all clients, and how much is used at all processes. */
export function quotaHandlers(context: ApiContext) {
  return {
    listQuotas: ofProcess((asked) => list(context, asked), addedUp),
  } satisfies Partial<Handlers>;
}

interface QuotaList {
  readonly data: readonly QuotaInForce[];
}

async function list(
  { stores, tenants, quotas, rates, memory }: ApiContext,
  { tenant }: Asked,
): Promise<QuotaList> {
  const plan = (await tenants?.register.get(tenant))?.plan;
  const held = stores.sessions.holdings.findTenant(tenant);
  const used = {
    connectionsMax: held?.connections ?? 0,
    sessionsMax: held?.sessions ?? 0,
    subscriptionsMax: held?.subscriptions ?? 0,
    deliveriesPerMinuteMax: rates.deliveriesOfLastMinute(tenant),
    queuedBytesMax: memory.queuedBytes(tenant),
  };
  const byAll = { deliveriesPerMinuteMax: rates.deliveriesOfLastMinute(undefined) };
  return { data: quotasInForce(quotas, plan, { tenant: used, broker: byAll }) };
}

/** Processes of a cluster have the same quotas, and each knows what its own clients hold. */
function addedUp(entries: readonly object[]): ApiAnswer {
  const [own, ...others] = entries as readonly QuotaList[];
  const data = own?.data.map((quota) => {
    if (quota.used === null) return quota;
    const alike = others.flatMap((other) =>
      other.data.filter(({ scope, name }) => scope === quota.scope && name === quota.name),
    );
    return { ...quota, used: alike.reduce((sum, { used }) => sum + (used ?? 0), quota.used) };
  });
  return { status: 200, body: { data: data ?? [] } };
}
