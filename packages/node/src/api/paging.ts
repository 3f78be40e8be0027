import { LIMIT_DEFAULT, LIMIT_MAX } from '@apus/api';
import { type ApiAnswer, badRequest } from './answer.ts';

export interface Paging {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

/** `?page=` and `?limit=`, or the answer for wrong ones. */
export function pagingOf(query: URLSearchParams): Paging | ApiAnswer {
  const page = wholeNumber(query.get('page') ?? '1');
  const limit = wholeNumber(query.get('limit') ?? String(LIMIT_DEFAULT));
  if (page === undefined) return badRequest('page is a whole number from 1.');
  if (limit === undefined || limit > LIMIT_MAX)
    return badRequest(`limit is a whole number from 1 to ${LIMIT_MAX}.`);
  return { page, limit };
}

/** A part of a list. */
export interface Slice {
  readonly from: number;
  /** 0: the length of the list is all that is asked for. */
  readonly limit: number;
}

export interface Window {
  readonly entries: readonly object[];
  /** Of the whole list. */
  readonly count: number;
}

export function isAnswer(value: Paging | Window | ApiAnswer): value is ApiAnswer {
  return 'status' in value;
}

/** One page of the values of an iteration, and their total number. */
export function pageOf<T>(
  all: Iterable<T>,
  { page, limit }: Paging,
): { readonly entries: T[]; readonly count: number } {
  return sliceOf(all, { from: (page - 1) * limit, limit });
}

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
  { page, limit }: Paging,
  count: number,
  missing = 0,
): ApiAnswer {
  const meta = { page, limit, count, hasnext: page * limit < count, ...(missing > 0 && { missing }) };
  return { status: 200, body: { data, meta } };
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
