import { PROMETHEUS_TYPE, type ProcessSamples, prometheusText } from '@apus/api';
import { metricsOf } from '../metrics/figures.ts';
import { samplesOf } from '../metrics/prometheus.ts';
import type { ApiAnswer } from './answer.ts';
import { recordsOf } from './clients.ts';
import type { ApiContext } from './context.ts';
import type { Handlers } from './router.ts';
import { type Asked, ofProcess } from './shared-handlers.ts';

/**
 * Present numbers (`/stats`), and counts since the start (`/metrics`), by EMQX's names: a list with an entry for each
 * process.
 */
export function statsHandlers(context: ApiContext) {
  return {
    getStats: ofProcess((asked) => stats(context, asked)),
    getMetrics: ofProcess(() => metrics(context)),
    getPrometheus: ofProcess(
      (): ProcessSamples => ({ node: context.nodeName, samples: samplesOf(context) }),
      (entries) => prometheus(entries as readonly ProcessSamples[]),
    ),
  } satisfies Partial<Handlers>;
}

function stats(context: ApiContext, { tenant }: Asked): object {
  const { nodeName, stores, links, limits } = context;
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
  return {
    node: nodeName,
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
}

function metrics(context: ApiContext): object {
  const { nodeName, clock, startedAtMs } = context;
  return {
    node: nodeName,
    uptime_seconds: Math.floor((clock.now() - startedAtMs) / 1000),
    ...metricsOf(context),
  };
}

/** For Prometheus: of all tenants. */
function prometheus(processes: readonly ProcessSamples[]): ApiAnswer {
  return { status: 200, headers: { 'Content-Type': PROMETHEUS_TYPE }, text: prometheusText(processes) };
}
