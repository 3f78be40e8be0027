import { NODE_NAME } from '@apus/api';
import type { SweptSession } from '@apus/store-dynamodb';
import { sessionsOf } from '../operator/table-walk.ts';
import type { HttpAnswer } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import type { ApiContext, ApiRequest, Handlers } from './context.ts';
import { pagingOf, partOf } from './pages.ts';
import { filterOf } from './subscription.ts';

/** Rounds over the table that one list of topic filters takes at most: 4 MB each, 512 read units. */
const ROUNDS_MAX = 8;

/** Sessions of a tenant from which one list is made at most: each costs a read unit where it has few subscriptions. */
const SESSIONS_MAX = 2_000;

/** Topic filters that one list holds at most. */
const FILTERS_MAX = 10_000;

const LISTS_AT_ONCE = 25;

/** A request with less time left gives up the walk. */
const RESERVE_MS = 15_000;

/** A list serves the requests for its next pages, and repeated requests, for this long. */
const KEPT_MS = 60_000;

const TENANTS_MAX = 20;

interface Kept {
  readonly filters: readonly string[];
  readonly untilMs: number;
}

/**
 * The topic filters that have subscribers. Only a walk over all sessions finds each filter once. So the list is made
 * for a tenant with few sessions; for a tenant with more, the answer says why there is none.
 */
export function topicHandlers(context: ApiContext) {
  const kept = new Map<string, Kept>();
  const listTopics = async (request: ApiRequest): Promise<HttpAnswer> => {
    const paging = pagingOf(request.query);
    const { tenant } = request;
    const nowMs = context.clock.now();
    let own = kept.get(tenant);
    if (own === undefined || own.untilMs <= nowMs) {
      own = { filters: await filtersOf(context, request), untilMs: nowMs + KEPT_MS };
      if (kept.size >= TENANTS_MAX) kept.clear();
      kept.set(tenant, own);
    }
    return partOf(
      own.filters.map((topic) => ({ topic, node: NODE_NAME })),
      paging,
    );
  };
  return { listTopics } satisfies Partial<Handlers>;
}

async function filtersOf(
  context: ApiContext,
  { tenant, invocation }: ApiRequest,
): Promise<readonly string[]> {
  const filters = new Set<string>();
  let rounds = 0;
  let looked = 0;
  for await (const round of sessionsOf(context.scan, false)) {
    const own = round.filter((session) => session.tenant === tenant);
    rounds += 1;
    looked += own.length;
    if (looked > SESSIONS_MAX) throw tooMany(`this tenant has more than ${SESSIONS_MAX} sessions`);
    if (rounds > ROUNDS_MAX) throw tooMany(`the table has more than ${ROUNDS_MAX * 4} MB of sessions`);
    await addAll(context, filters, own);
    if (filters.size > FILTERS_MAX) throw tooMany(`this tenant has more than ${FILTERS_MAX} topic filters`);
    if (invocation.getRemainingTimeInMillis() < RESERVE_MS)
      throw new ApiProblem('SERVICE_UNAVAILABLE', 'The time was not enough to look at all sessions.');
  }
  return [...filters].sort();
}

async function addAll(
  { subscriptions }: ApiContext,
  filters: Set<string>,
  sessions: readonly SweptSession[],
): Promise<void> {
  for (let start = 0; start < sessions.length && filters.size <= FILTERS_MAX; start += LISTS_AT_ONCE) {
    const some = sessions.slice(start, start + LISTS_AT_ONCE);
    for (const list of await Promise.all(some.map((each) => subscriptions.list(each))))
      for (const each of list) filters.add(filterOf(each));
  }
}

function tooMany(why: string): ApiProblem {
  const message = `A deployment lists topic filters as far as it can look at all sessions at once, and ${why}: page over GET /api/v5/subscriptions instead.`;
  return new ApiProblem('NOT_SUPPORTED', message);
}
