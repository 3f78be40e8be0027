import type { HttpAnswer } from '../publish/http.ts';
import { type ApiContext, type Handlers, ok } from './context.ts';
import type { Counts } from './tenant-counts.ts';

/** Sessions and connections of a tenant. */
export function statsHandlers({ counts }: ApiContext) {
  return {
    getStats: async ({ tenant, invocation }) => answerOf(await counts.of(tenant, invocation)),
  } satisfies Partial<Handlers>;
}

function answerOf({ sessions, connected }: Counts): HttpAnswer {
  const figures = {
    node: 'apus',
    'connections.count': sessions,
    'live_connections.count': connected,
    'sessions.count': sessions,
    ...{ 'subscriptions.count': null, 'subscriptions.shared.count': null },
    ...{ 'retained.count': null, 'retained.max': null },
    ...{ 'web_sockets.node_door.count': null, 'web_sockets.node_door.max': null },
  };
  return ok([figures]);
}
