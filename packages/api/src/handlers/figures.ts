import type { Awaitable, QuotaInForce } from '@apus/broker';
import { entryOfEach, Text } from '../handler.ts';
import { PROMETHEUS_TYPE, type ProcessSamples, prometheusText, type Sample } from '../prometheus.ts';
import type { MetricsLine, StatsLine } from '../schemas/operator.ts';

type Held = 'connections.count' | 'live_connections.count' | 'sessions.count';

export interface FigureFacts {
  readonly nodeName: string;
  /** Present numbers of one tenant. What is absent is null in the answer. */
  stats(tenant: string): Awaitable<Pick<StatsLine, Held> & Partial<StatsLine>>;
  /** Counts of all tenants. */
  metrics(): Awaitable<Omit<MetricsLine, 'node'>>;
  /** For Prometheus: of all tenants. */
  samples(): Awaitable<readonly Sample[]>;
  /** Limits of a tenant, of its identities and of all clients, and how much of them is used. */
  quotas(tenant: string): Awaitable<readonly QuotaInForce[]>;
}

interface QuotaList {
  readonly data: readonly QuotaInForce[];
}

/** Present numbers and counts, by EMQX's names: a list with an entry for each process. */
export const figureHandlers = {
  getStats: entryOfEach(async (facts: FigureFacts, { tenant }): Promise<StatsLine> => {
    const found = await facts.stats(tenant);
    return {
      node: facts.nodeName,
      'connections.count': found['connections.count'],
      'live_connections.count': found['live_connections.count'],
      'sessions.count': found['sessions.count'],
      'subscriptions.count': found['subscriptions.count'] ?? null,
      'subscriptions.shared.count': found['subscriptions.shared.count'] ?? null,
      'retained.count': found['retained.count'] ?? null,
      'retained.max': found['retained.max'] ?? null,
      'web_sockets.node_door.count': found['web_sockets.node_door.count'] ?? null,
      'web_sockets.node_door.max': found['web_sockets.node_door.max'] ?? null,
    };
  }),
  getMetrics: entryOfEach(async (facts: FigureFacts): Promise<MetricsLine> => {
    return { node: facts.nodeName, ...(await facts.metrics()) };
  }),
  getPrometheus: entryOfEach(
    async (facts: FigureFacts): Promise<ProcessSamples> => {
      return { node: facts.nodeName, samples: await facts.samples() };
    },
    (entries) => new Text(PROMETHEUS_TYPE, prometheusText(entries as readonly ProcessSamples[])),
  ),
  listQuotas: entryOfEach(
    async (facts: FigureFacts, { tenant }): Promise<QuotaList> => ({ data: await facts.quotas(tenant) }),
    (entries) => addedUp(entries as readonly QuotaList[]),
  ),
};

/** Processes of a cluster have the same quotas, and each knows what its own clients hold. */
function addedUp([own, ...others]: readonly QuotaList[]): QuotaList {
  const data = own?.data.map((quota) => {
    if (quota.used === null) return quota;
    const alike = others.flatMap((other) =>
      other.data.filter(({ scope, name }) => scope === quota.scope && name === quota.name),
    );
    return { ...quota, used: alike.reduce((sum, { used }) => sum + (used ?? 0), quota.used) };
  });
  return { data: data ?? [] };
}
