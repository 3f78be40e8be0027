import { metricsOf } from '../metrics/figures.ts';
import { PROMETHEUS_TYPE, prometheusText } from '../metrics/prometheus.ts';
import type { ApiAnswer } from './answer.ts';
import { recordsOf } from './clients.ts';
import { type ApiContext, NODE_NAME } from './context.ts';
import type { Handlers } from './router.ts';

/** Figures of now (`/stats`), and since the start (`/metrics`), by EMQX's names; a list of one node each. */
export function statsHandlers(context: ApiContext) {
  return {
    getStats: ({ tenant }) => stats(context, tenant),
    getMetrics: () => metrics(context),
    getPrometheus: () => prometheus(context),
  } satisfies Partial<Handlers>;
}

async function stats(context: ApiContext, tenant: string): Promise<ApiAnswer> {
  const { stores, links, limits } = context;
  let live = 0;
  let sessions = 0;
  let subscriptions = 0;
  let shared = 0;
  for (const { session, attachment } of recordsOf(context, tenant)) {
    sessions += 1;
    if (attachment !== undefined) live += 1;
    for (const { shareGroup } of stores.subscriptions.list(session)) {
      subscriptions += 1;
      if (shareGroup !== undefined) shared += 1;
    }
  }
  const figures = {
    node: NODE_NAME,
    'connections.count': sessions,
    'live_connections.count': live,
    'sessions.count': sessions,
    'subscriptions.count': subscriptions,
    'subscriptions.shared.count': shared,
    'retained.count': stores.retained.count(tenant),
    'retained.max': limits.retainedMessagesMax,
    'web_sockets.node_door.count': links.size,
    'web_sockets.node_door.max': limits.connectionsMax,
  };
  return { status: 200, body: [figures] };
}

function metrics(context: ApiContext): ApiAnswer {
  const { clock, startedAtMs } = context;
  const figures = {
    node: NODE_NAME,
    uptime_seconds: Math.floor((clock.now() - startedAtMs) / 1000),
    ...metricsOf(context),
  };
  return { status: 200, body: [figures] };
}

/** For Prometheus: of all tenants. */
function prometheus(context: ApiContext): ApiAnswer {
  return { status: 200, headers: { 'Content-Type': PROMETHEUS_TYPE }, text: prometheusText(context) };
}
