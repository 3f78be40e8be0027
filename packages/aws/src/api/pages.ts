import { ApiProblem, LIMIT_DEFAULT, LIMIT_MAX, type Part, type Slice } from '@apus/api';
import { parseJson } from '@apus/broker';
import { type HttpAnswer, jsonAnswer } from '@apus/door';

const AFTER_LENGTH_MAX = 4_096;

type Paging = Pick<Slice, 'limit' | 'after'>;

/** `?limit=` and `?after=`. @throws {ApiProblem} */
export function pagingOf(query: URLSearchParams): Slice {
  const limit = query.get('limit') ?? String(LIMIT_DEFAULT);
  const after = query.get('after') ?? undefined;
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > LIMIT_MAX)
    throw new ApiProblem('BAD_REQUEST', `limit is a whole number from 1 to ${LIMIT_MAX}.`);
  if ((query.get('page') ?? '1') !== '1')
    throw new ApiProblem(
      'BAD_REQUEST',
      'A deployment does not count pages: after is meta.next of the page before.',
    );
  if (after !== undefined && (after === '' || after.length > AFTER_LENGTH_MAX))
    throw new ApiProblem('BAD_REQUEST', 'after is meta.next of the page before.');
  return { from: 0, limit: Number(limit), after };
}

export function pageAnswer(
  data: readonly object[],
  { limit }: Pick<Paging, 'limit'>,
  next: string | undefined,
): HttpAnswer {
  return jsonAnswer(200, { data, meta: { limit, hasnext: next !== undefined, next: next ?? null } });
}

/** The entries before a page, where the cursor is their number. @throws {ApiProblem} */
export function placeOf({ after = '0' }: Paging): number {
  if (/^\d{1,9}$/.test(after)) return Number(after);
  throw new ApiProblem('BAD_REQUEST', 'after is meta.next of the page before.');
}

/** A part of a list that is there as a whole; its cursor is the number of entries before. */
export function partOf<T>(all: readonly T[], paging: Paging): Part<T> {
  const from = placeOf(paging);
  const end = from + paging.limit;
  return { entries: all.slice(from, end), next: end < all.length ? String(end) : undefined };
}

/** A cursor of a text that survives JSON. */
export function cursorOf(position: object | undefined): string | undefined {
  return position === undefined ? undefined : Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** @throws {ApiProblem} */
export function positionOf(after: string | undefined): unknown {
  if (after === undefined) return undefined;
  try {
    return parseJson(Buffer.from(after, 'base64url').toString());
  } catch {
    throw new ApiProblem('BAD_REQUEST', 'after is meta.next of the page before.');
  }
}
