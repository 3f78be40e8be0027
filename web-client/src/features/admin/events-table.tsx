import type { ClientEvent } from '@apus/api';
import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { formatCount, formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { reasonText } from './observing-api.ts';
import { observingWords } from './observing-strings.ts';
import { SystemsTable } from './systems-table.tsx';

const COLUMNS = ['last', 'event', 'reason', 'count', 'client', 'user', 'address'] as const;
const OF_CLIENT = ['last', 'event', 'reason', 'count', 'address'] as const;

const SEARCH_DELAY_MS = 250;

/** In the details of a client, above its facts; the tab has the others. */
const ROWS_OF_ONE = 8;

/** What happened to clients, the newest first. */
export function EventsTable({ api }: { readonly api: AdminApi }) {
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, SEARCH_DELAY_MS);
  return (
    <>
      <TextInput
        aria-label="The whole client identifier"
        placeholder="The whole client identifier"
        leftSection={<IconSearch size={14} stroke={1.5} />}
        spellCheck={false}
        maw={340}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ClientEvents api={api} clientId={asked === '' ? undefined : asked} label="Events" />
    </>
  );
}

interface ClientEventsProps {
  readonly api: AdminApi;
  /** Undefined: of all clients. */
  readonly clientId: string | undefined;
  readonly label: string;
  /** In the details of a client. @default false */
  readonly isOfOne?: boolean;
}

export function ClientEvents({ api, clientId, label, isOfOne = false }: ClientEventsProps) {
  const query = clientId === undefined ? '' : `?${new URLSearchParams({ clientid: clientId })}`;
  return (
    <SystemsTable<ClientEvent>
      api={api}
      path={`/client_events${query}`}
      label={label}
      columns={(isOfOne ? OF_CLIENT : COLUMNS).map((name) => observingWords.events.columns[name])}
      empty="Nothing has happened."
      {...(isOfOne && { rowsMax: ROWS_OF_ONE })}
      row={(entry) => (
        <tr key={`${entry.clientid} ${entry.event} ${entry.at} ${entry.reason} ${entry.ip_address}`}>
          <td className={classes.time}>{formatDateTime(Date.parse(entry.last_at))}</td>
          <td>{observingWords.events.kinds[entry.event]}</td>
          <td className={classes.why}>{visibleText(reasonText(entry))}</td>
          <td className={classes.number}>{formatCount(entry.count)}</td>
          {!isOfOne && <td className={classes.name}>{visibleText(entry.clientid ?? '–')}</td>}
          {!isOfOne && <td className={classes.why}>{visibleText(entry.username ?? '–')}</td>}
          <td>{entry.ip_address ?? '–'}</td>
        </tr>
      )}
    />
  );
}
