import { Button, Group, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { formatCount } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Refusal } from './refusal.tsx';
import { type Column, nextSorting, type Sorting } from './sorting.ts';
import { Table } from './table.tsx';
import { type Paging, SORTED_MAX, usePagedEntries } from './use-paged-entries.ts';

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
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const [sorting, setSorting] = useState<Sorting>();
  const parameter = search?.parameter ?? '';
  const listed = usePagedEntries<T>({ api, path, parameter, asked, columns, sorting });
  const { error, refresh, entries, count, paging, toFirstPage } = listed;
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
              toFirstPage();
            }}
          />
        )}
        {tools?.({ entries, count, search: asked, refresh })}
        <Count api={api} count={count} isSorted={sorting !== undefined} refresh={refresh} />
      </Group>
      {error !== undefined && <Refusal error={error} />}
      <Table
        label={label}
        columns={columns.map((column) => (
          <Head
            key={column.label}
            column={column}
            sorting={sorting}
            sort={() => {
              setSorting(nextSorting(column.label, sorting));
              toFirstPage();
            }}
          />
        ))}
        empty={listed.isRead && count === 0 ? empty : undefined}
      >
        {entries.map((entry) => row(entry, refresh))}
      </Table>
      {paging !== undefined && <Pager {...paging} />}
    </>
  );
}

interface CountProps {
  readonly api: AdminApi;
  readonly count: number;
  readonly isSorted: boolean;
  readonly refresh: () => void;
}

/** How many there are; at a deployment how many are listed, and a button that asks again. */
function Count({ api, count, isSorted, refresh }: CountProps) {
  return (
    <>
      <Text size="xs" c="dimmed" role="status">
        {api.isDeployment ? `${formatCount(count)} on this page` : `${formatCount(count)} in all`}
        {isSorted && count > SORTED_MAX && ` · ${`sorted among the first ${SORTED_MAX}: search for fewer`}`}
      </Text>
      {api.isDeployment && (
        <Button variant="default" size="xs" onClick={refresh}>
          Ask again
        </Button>
      )}
    </>
  );
}

function Pager({ previous, next, at }: Paging) {
  return (
    <Group gap="xs" mt="xs">
      <Button variant="default" disabled={previous === undefined} onClick={previous}>
        Previous
      </Button>
      {at !== undefined && <Text size="xs">{`Page ${at.page} of ${at.pages}`}</Text>}
      <Button variant="default" disabled={next === undefined} onClick={next}>
        Next
      </Button>
    </Group>
  );
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
