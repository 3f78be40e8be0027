import { ApiProblem, LIMIT_DEFAULT, LIMIT_MAX, type Slice } from '@apus/api';
import type { ApiAnswer } from './answer.ts';

/** `?page=` or `?after=`, and `?limit=`. @throws {ApiProblem} */
export function pagingOf(query: URLSearchParams): Slice {
  const after = query.get('after');
  const page = wholeNumber(query.get('page') ?? '1');
  const limit = wholeNumber(query.get('limit') ?? String(LIMIT_DEFAULT));
  if (page === undefined) throw new ApiProblem('BAD_REQUEST', 'page is a whole number from 1.');
  if (limit === undefined || limit > LIMIT_MAX)
    throw new ApiProblem('BAD_REQUEST', `limit is a whole number from 1 to ${LIMIT_MAX}.`);
  if (after === null) return { from: (page - 1) * limit, limit };
  // The cursor of a node is the number of entries before it; a deployment's is different. Programs do not interpret
  // cursors.
  const from = wholeNumber(after);
  if (from !== undefined && !query.has('page')) return { from, limit };
  const message = 'after is meta.next of the page before, and is not given with page.';
  throw new ApiProblem('BAD_REQUEST', message);
}

/** Some of the values of an iteration, and their total number. */
export function sliceOf<T>(
  all: Iterable<T>,
  { from, limit }: Slice,
): { readonly entries: T[]; readonly count: number } {
  const entries: T[] = [];
  let count = 0;
  for (const entry of all) {
    if (count >= from && entries.length < limit) entries.push(entry);
    count += 1;
  }
  return { entries, count };
}

/** A page as EMQX words it. `missing`: processes of a cluster that have not answered in time. */
export function pageAnswer(
  data: readonly object[],
  { from, limit }: Slice,
  count: number,
  missing = 0,
): ApiAnswer {
  const end = from + limit;
  const hasnext = end < count;
  const meta = {
    ...{ page: Math.floor(from / limit) + 1, limit, count, hasnext, next: hasnext ? String(end) : null },
    ...(missing > 0 && { missing }),
  };
  return { status: 200, body: { data, meta } };
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
