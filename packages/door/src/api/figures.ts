import type { FigureFacts } from '@apus/api';
import { quotasInForce } from '@apus/broker';
import { recordsOf } from './clients.ts';
import { emqxSamples, metricsOf } from './metrics.ts';
import type { ApiSources } from './sources.ts';

/** Present numbers, counts since the start, and quotas. */
export function figureFacts(sources: ApiSources): Omit<FigureFacts, 'nodeName'> {
  const { stores, planOf, quotas, rates, memory, uptimeMs } = sources;
  return {
    stats: (tenant) => statsOf(sources, tenant),
    metrics: () => ({ uptime_seconds: Math.floor(uptimeMs() / 1000), ...metricsOf(sources) }),
    samples: () => emqxSamples(sources),
    async quotas(tenant) {
      const plan = await planOf(tenant);
      const held = stores.sessions.holdings.findTenant(tenant);
      const used = {
        connectionsMax: held?.connections ?? 0,
        sessionsMax: held?.sessions ?? 0,
        subscriptionsMax: held?.subscriptions ?? 0,
        deliveriesPerMinuteMax: rates.deliveriesOfLastMinute(tenant),
        queuedBytesMax: memory.queuedBytes(tenant),
      };
      const byAll = { deliveriesPerMinuteMax: rates.deliveriesOfLastMinute(undefined) };
      return quotasInForce(quotas, plan, { tenant: used, broker: byAll });
    },
  };
}

function statsOf(sources: ApiSources, tenant: string): ReturnType<FigureFacts['stats']> {
  const { stores, links, limits } = sources;
  const records = [...recordsOf(sources, tenant)];
  const held = records.flatMap(({ session }) => stores.subscriptions.list(session));
  return {
    'connections.count': records.length,
    'live_connections.count': records.filter(({ attachment }) => attachment !== undefined).length,
    'sessions.count': records.length,
    'subscriptions.count': held.length,
    'subscriptions.shared.count': held.filter(({ shareGroup }) => shareGroup !== undefined).length,
    'retained.count': stores.retained.count(tenant),
    'retained.max': limits.retainedMessagesMax,
    'web_sockets.node_door.count': links.size,
    'web_sockets.node_door.max': limits.connectionsMax,
  };
}
