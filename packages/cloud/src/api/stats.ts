import { sessionsOf } from '../operator/table-walk.ts';
import type { HttpAnswer } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import { type ApiContext, type ApiRequest, type Handlers, ok } from './context.ts';

/** With less left the walk over the table is given up. */
const RESERVE_MS = 15_000;

/** A walk reads every session: it is not repeated for a page that is loaded again. */
const KEPT_MS = 60_000;

const TENANTS_MAX = 1_000;

interface Counts {
  sessions: number;
  connected: number;
}

/** Sessions and connections of a tenant, counted by a walk over the table and kept for a minute. */
export function statsHandlers(context: ApiContext) {
  const kept = new Map<string, { readonly counts: Counts; readonly untilMs: number }>();
  const getStats = async ({ tenant, invocation }: ApiRequest): Promise<HttpAnswer> => {
    const nowMs = context.clock.now();
    const known = kept.get(tenant);
    if (known !== undefined && known.untilMs > nowMs) return answerOf(known.counts);
    const hasTime = () => invocation.getRemainingTimeInMillis() > RESERVE_MS;
    const counts = await countedOf(context, tenant, hasTime);
    if (kept.size >= TENANTS_MAX) kept.clear();
    kept.set(tenant, { counts, untilMs: nowMs + KEPT_MS });
    return answerOf(counts);
  };
  return { getStats } satisfies Partial<Handlers>;
}

async function countedOf({ scan }: ApiContext, tenant: string, hasTime: () => boolean): Promise<Counts> {
  const counts: Counts = { sessions: 0, connected: 0 };
  for await (const sessions of sessionsOf(scan)) {
    const own = sessions.filter((session) => session.tenant === tenant);
    counts.sessions += own.length;
    counts.connected += own.filter(({ connectionId }) => connectionId !== undefined).length;
    if (!hasTime())
      throw new ApiProblem('SERVICE_UNAVAILABLE', 'The time was not enough to count all sessions.');
  }
  return counts;
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
