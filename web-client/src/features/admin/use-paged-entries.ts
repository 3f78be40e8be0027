import { useCallback, useState } from 'react';
import type { AdminApi, Page } from './admin-api.ts';
import { type Column, type Sorting, sorted } from './sorting.ts';
import { usePoll } from './use-poll.ts';

/** Rows of a page, which the client requests every two seconds. */
const ROWS = 50;

/** Rows that are sorted here, and the most that the broker gives at once. It lists them in an order of its own. */
export const SORTED_MAX = 1_000;

/** How to turn the pages. Undefined steps: there is no such page. */
export interface Paging {
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
  /** Undefined at a deployment, which does not count its pages. */
  readonly at: { readonly page: number; readonly pages: number } | undefined;
}

interface Wanted<T> {
  readonly api: AdminApi;
  readonly path: string;
  /** The name and the text of a search; with an empty text all are listed. */
  readonly parameter: string;
  readonly asked: string;
  readonly columns: readonly Column<T>[];
  readonly sorting: Sorting | undefined;
}

/** A page of what the API lists at a path, as it stands now. */
export function usePagedEntries<T>({ api, path, parameter, asked, columns, sorting }: Wanted<T>) {
  const [page, setPage] = useState(1);
  /** `after` of each page up to this one, at a deployment. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const isSorted = sorting !== undefined;
  const ask = useCallback(
    (signal: AbortSignal) => {
      const place = api.isDeployment ? placeBehind(cursors) : placeOf(page, isSorted);
      return api.page<T>(path, { ...place, ...(asked !== '' && { [parameter]: asked }) }, signal);
    },
    [api, path, parameter, asked, page, isSorted, cursors],
  );
  const { value, error, refresh } = usePoll<Page<T>>(ask, api.pollMs);
  const all = value?.data ?? [];
  const count = value?.meta.count ?? all.length;
  const first = isSorted && value?.meta.limit === SORTED_MAX ? (page - 1) * ROWS : 0;
  const entries = (sorting === undefined ? all : sorted(all, columns, sorting)).slice(first, first + ROWS);
  const paging = api.isDeployment
    ? pagingByCursors(cursors, value?.meta.next ?? undefined, setCursors)
    : pagingByNumbers(page, isSorted ? Math.min(count, SORTED_MAX) : count, setPage);
  const toFirstPage = (): void => {
    setPage(1);
    setCursors([]);
  };
  return { isRead: value !== undefined, error, refresh, entries, count, paging, toFirstPage };
}

type Query = Readonly<Record<string, string>>;

function placeBehind(cursors: readonly string[]): Query {
  const after = cursors.at(-1);
  return { limit: String(ROWS), ...(after !== undefined && { after }) };
}

function placeOf(page: number, isSorted: boolean): Query {
  return isSorted ? { page: '1', limit: String(SORTED_MAX) } : { page: String(page), limit: String(ROWS) };
}

/** Undefined: all are on one page. */
function pagingByCursors(
  cursors: readonly string[],
  next: string | undefined,
  turnTo: (cursors: readonly string[]) => void,
): Paging | undefined {
  if (next === undefined && cursors.length === 0) return undefined;
  return {
    previous: cursors.length === 0 ? undefined : () => turnTo(cursors.slice(0, -1)),
    next: next === undefined ? undefined : () => turnTo([...cursors, next]),
    at: undefined,
  };
}

function pagingByNumbers(page: number, count: number, turnTo: (page: number) => void): Paging | undefined {
  const pages = Math.max(1, Math.ceil(count / ROWS));
  // The rows of the later pages may have gone while the user is there.
  if (pages === 1 && page === 1) return undefined;
  return {
    previous: page <= 1 ? undefined : () => turnTo(page - 1),
    next: page >= pages ? undefined : () => turnTo(page + 1),
    at: { page, pages },
  };
}
