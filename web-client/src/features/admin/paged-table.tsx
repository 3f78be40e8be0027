import { Button, Group, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import type { AdminApi, Page } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Refusal } from './refusal.tsx';
import { type Column, nextSorting, type Sorting, sorted } from './sorting.ts';
import { usePoll } from './use-poll.ts';

/** Rows of a page, which the client requests every two seconds. */
const ROWS = 50;

/** Rows that are sorted here, and the most that the broker returns at once. Its lists have their own order. */
const SORTED_MAX = 1_000;

const SEARCH_DELAY_MS = 250;

/** The rows that a table shows now, for the tools beside its search. */
export interface Shown<T> {
  readonly entries: readonly T[];
  /** How many match the search. */
  readonly count: number;
  readonly search: string;
  readonly refresh: () => void;
}

interface PagedTableProps<T> {
  readonly api: AdminApi;
  readonly label: string;
  readonly path: string;
  /** The query for a search text that is not empty; absent if the API has none. */
  readonly search?: { readonly label: string; readonly parameter: string };
  readonly columns: readonly Column<T>[];
  readonly empty: string;
  readonly tools?: (shown: Shown<T>) => ReactNode;
  readonly row: (entry: T, refresh: () => void) => ReactNode;
}

/** A table of an API list, a page at a time, with its present content. */
export function PagedTable<T>({ api, label, path, search, columns, empty, tools, row }: PagedTableProps<T>) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const [page, setPage] = useState(1);
  /** `after` of each page up to this one, at a deployment. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [sorting, setSorting] = useState<Sorting>();
  const isSorted = sorting !== undefined;
  const parameter = search?.parameter ?? '';
  const ask = useCallback(
    (signal: AbortSignal) => {
      const place = api.isDeployment
        ? placeBehind(cursors)
        : isSorted
          ? { page: '1', limit: String(SORTED_MAX) }
          : { page: String(page), limit: String(ROWS) };
      return api.page<T>(path, { ...place, ...(asked !== '' && { [parameter]: asked }) }, signal);
    },
    [api, path, parameter, asked, page, isSorted, cursors],
  );
  const { value, error, refresh } = usePoll<Page<T>>(ask, api.pollMs);
  const all = value?.data ?? [];
  const count = value?.meta.count ?? all.length;
  const next = value?.meta.next ?? undefined;
  const start = (): void => {
    setPage(1);
    setCursors([]);
  };
  const reachable = isSorted ? Math.min(count, SORTED_MAX) : count;
  const pages = Math.max(1, Math.ceil(reachable / ROWS));
  const first = isSorted && value?.meta.limit === SORTED_MAX ? (page - 1) * ROWS : 0;
  const entries = (sorting === undefined ? all : sorted(all, columns, sorting)).slice(first, first + ROWS);
  return (
    <>
      <Group justify="space-between" gap="xs" mb="xs">
        {search !== undefined && (
          <TextInput
            aria-label={search.label}
            placeholder={search.label}
            leftSection={<IconSearch size={14} stroke={1.5} />}
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              start();
            }}
          />
        )}
        {tools?.({ entries, count, search: asked, refresh })}
        <Text size="xs" c="dimmed" role="status">
          {t(api.isDeployment ? 'admin.listed' : 'admin.count', { count, shown: formatCount(count) })}
          {isSorted && count > SORTED_MAX && ` · ${t('admin.sortedPart', { count: SORTED_MAX })}`}
        </Text>
        {api.isDeployment && (
          <Button variant="default" size="xs" onClick={refresh}>
            {t('admin.refresh')}
          </Button>
        )}
      </Group>
      {error !== undefined && <Refusal error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone, and must do so by key */}
      <div className={classes.scroll} role="group" tabIndex={0} aria-label={label}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head
                  key={column.label}
                  column={column}
                  sorting={sorting}
                  sort={() => {
                    setSorting(nextSorting(column.label, sorting));
                    start();
                  }}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => row(entry, refresh))}
            {value !== undefined && count === 0 && (
              <tr>
                <td colSpan={columns.length}>{empty}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {(next !== undefined || cursors.length > 0) && (
        <Group gap="xs" mt="xs">
          <Button
            variant="default"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            {t('admin.previous')}
          </Button>
          <Button
            variant="default"
            disabled={next === undefined}
            onClick={() => next !== undefined && setCursors([...cursors, next])}
          >
            {t('admin.next')}
          </Button>
        </Group>
      )}
      {pages > 1 && (
        <Group gap="xs" mt="xs">
          <Button variant="default" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            {t('admin.previous')}
          </Button>
          <Text size="xs">{t('admin.page', { page, pages })}</Text>
          <Button variant="default" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            {t('admin.next')}
          </Button>
        </Group>
      )}
    </>
  );
}

function placeBehind(cursors: readonly string[]): Readonly<Record<string, string>> {
  const after = cursors.at(-1);
  return { limit: String(ROWS), ...(after !== undefined && { after }) };
}

interface HeadProps<T> {
  readonly column: Column<T>;
  readonly sorting: Sorting | undefined;
  readonly sort: () => void;
}

function Head<T>({ column, sorting, sort }: HeadProps<T>) {
  const { label, sortKey } = column;
  if (sortKey === undefined) return <th scope="col">{label}</th>;
  const direction = sorting?.label !== label ? undefined : sorting.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={direction ?? 'none'}>
      <UnstyledButton className={classes.sort} onClick={sort}>
        {label}
        <span aria-hidden>{direction === undefined ? '' : direction === 'ascending' ? ' ↑' : ' ↓'}</span>
      </UnstyledButton>
    </th>
  );
}
