import type { HeldMember } from '@apus/store-memory';
import type { ApiAnswer } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { isAnswer, pageAnswer, pagingOf, sliceOf } from './paging.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** Members of a room, as they are now: of a large room its watchers learn at its next tick. */
export function presenceHandlers(context: ApiContext) {
  return { listMembers: (request) => list(context, request) } satisfies Partial<Handlers>;
}

function list({ stores }: ApiContext, { tenant, parameters, query }: ApiRequest): ApiAnswer {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const { entries, count } = sliceOf(stores.presenceStore.members(tenant, parameters.room ?? ''), paging);
  return pageAnswer(entries.map(describe), paging, count);
}

function describe({ member, now, joinedAtMs, owners }: HeldMember): object {
  return {
    member,
    payload: Buffer.from(now?.payload ?? []).toString('base64'),
    joined_at: rfc3339(joinedAtMs),
    clientids: [...owners.values()].map(({ clientId }) => clientId),
  };
}
