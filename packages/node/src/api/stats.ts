import type { TrafficMeter } from '../traffic-meter.ts';
import type { ApiAnswer } from './answer.ts';
import { recordsOf } from './clients.ts';
import { type ApiContext, NODE_NAME } from './context.ts';
import { dropFigures } from './drops.ts';
import type { ApiRoute } from './router.ts';

/** Figures of now (`/stats`), and since the start (`/metrics`), by EMQX's names; a list of one node each. */
export function statsRoutes(context: ApiContext): readonly ApiRoute[] {
  return [
    { method: 'GET', path: '/stats', handle: ({ tenant }) => stats(context, tenant) },
    { method: 'GET', path: '/metrics', handle: () => metrics(context) },
  ];
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

function metrics({ meter, drops, clock, startedAtMs }: ApiContext): ApiAnswer {
  const figures = {
    node: NODE_NAME,
    uptime_seconds: Math.floor((clock.now() - startedAtMs) / 1000),
    ...figuresOf('received', meter.received),
    ...figuresOf('sent', meter.sent),
    ...dropFigures('delivery.dropped', drops.total),
  };
  return { status: 200, body: [figures] };
}

function figuresOf(name: string, counts: TrafficMeter['sent']): Readonly<Record<string, number>> {
  return {
    [`messages.${name}`]: counts[0] + counts[1] + counts[2],
    [`messages.qos0.${name}`]: counts[0],
    [`messages.qos1.${name}`]: counts[1],
    [`messages.qos2.${name}`]: counts[2],
  };
}
