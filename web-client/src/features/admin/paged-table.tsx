import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

/** Rows of a page: what the broker is asked for every two seconds. */
const ROWS = 50;

const SEARCH_DELAY_MS = 250;

interface PagedTableProps<T> {
  readonly api: AdminApi;
  readonly label: string;
  readonly path: string;
  /** The query for a search text that is not empty. */
  readonly search: { readonly label: string; readonly parameter: string };
  readonly columns: readonly string[];
  readonly empty: string;
  readonly row: (entry: T, refresh: () => void) => ReactNode;
}

/** A table of what the API lists, a page at a time, as it stands now. */
export function PagedTable<T>({ api, label, path, search, columns, empty, row }: PagedTableProps<T>) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const [page, setPage] = useState(1);
  const { parameter } = search;
  const ask = useCallback(
    (signal: AbortSignal) => {
      const query = { page: String(page), limit: String(ROWS), ...(asked !== '' && { [parameter]: asked }) };
      return api.page<T>(path, query, signal);
    },
    [api, path, parameter, asked, page],
  );
  const { value, error, refresh } = usePoll(ask);
  const count = value?.meta.count ?? 0;
  const pages = Math.max(1, Math.ceil(count / ROWS));
  return (
    <>
      <Group justify="space-between" gap="xs" mb="xs">
        <TextInput
          aria-label={search.label}
          placeholder={search.label}
          leftSection={<IconSearch size={14} stroke={1.5} />}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setPage(1);
          }}
        />
        <Text size="xs" c="dimmed" role="status">
          {t('admin.count', { count, shown: formatCount(count) })}
        </Text>
      </Group>
      {error !== undefined && <Refusal error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone, and must do so by key */}
      <div className={classes.scroll} role="group" tabIndex={0} aria-label={label}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value?.data.map((entry) => row(entry, refresh))}
            {value !== undefined && count === 0 && (
              <tr>
                <td colSpan={columns.length}>{empty}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
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
