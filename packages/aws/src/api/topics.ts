import { ApiProblem, filterOf } from '@apus/api';
import type { SweptSession } from '@apus/store-dynamodb';
import type { HasTime } from '../operator/ban.ts';
import { sessionsOf } from '../operator/table-walk.ts';
import type { ApiContext } from './context.ts';

/** Rounds over the table that one list of topic filters takes at most: 4 MB each, 512 read units. */
const ROUNDS_MAX = 8;

/** Sessions of a tenant from which one list is made at most: each costs a read unit where it has few subscriptions. */
const SESSIONS_MAX = 2_000;

/** Topic filters that one list holds at most. */
const FILTERS_MAX = 10_000;

const LISTS_AT_ONCE = 25;

/** Tenants whose lists are kept. */
export const TENANTS_WITH_FILTERS_MAX = 20;

/**
 * The topic filters that have subscribers. Only a walk over all sessions finds each filter once. So the list is made
 * for a tenant with few sessions; for a tenant with more, the answer says why there is none.
 */
export async function filtersOf(
  context: Pick<ApiContext, 'scan' | 'subscriptions'>,
  tenant: string,
  hasTime: HasTime,
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
    if (!hasTime())
      throw new ApiProblem('SERVICE_UNAVAILABLE', 'The time was not enough to look at all sessions.');
  }
  return [...filters].sort();
}

async function addAll(
  { subscriptions }: Pick<ApiContext, 'subscriptions'>,
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
