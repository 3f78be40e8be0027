import type { PresentMember } from '../stores.ts';
import type { ApiAnswer } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { isAnswer, pageAnswer, pagingOf, sliceOf } from './paging.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** The present members of a room. Watchers of a large room learn of changes at its next tick. */
export function presenceHandlers(context: ApiContext) {
  return { listMembers: (request) => list(context, request) } satisfies Partial<Handlers>;
}

async function list({ stores }: ApiContext, { tenant, parameters, query }: ApiRequest): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const members = await stores.presenceStore.members(tenant, parameters.room ?? '');
  const { entries, count } = sliceOf(members, paging);
  return pageAnswer(entries.map(describe), paging, count);
}

function describe({ member, now, joinedAtMs, owners }: PresentMember): object {
  return {
    member,
    payload: Buffer.from(now?.payload ?? []).toString('base64'),
    joined_at: rfc3339(joinedAtMs),
    clientids: [...owners.values()].map(({ clientId }) => clientId),
  };
}
