import type { Alarm } from '@apus/api';
import { Alert, Button, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { formatCount, formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { observingWords } from './observing-strings.ts';
import { SystemsTable } from './systems-table.tsx';
import { usePoll } from './use-poll.ts';

/** Sentences above the figures; the tab has all of them. */
const SHOWN_MAX = 3;

/** The alarms of now, above everything else. Nothing where there are none, or the broker has no alarms. */
export function AlarmsAlert({ api }: { readonly api: AdminApi }) {
  const ask = useCallback(
    async (signal: AbortSignal) => (await api.page<Alarm>('/alarms', {}, signal)).data,
    [api],
  );
  const { value = [] } = usePoll(ask, api.pollMs);
  if (value.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      mb="md"
      role="status"
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
      title="Alarms"
    >
      <List size="sm" spacing={2}>
        {value.slice(0, SHOWN_MAX).map(({ node, name, message }) => (
          <List.Item key={`${node} ${name}`}>{visibleText(message)}</List.Item>
        ))}
        {value.length > SHOWN_MAX && <List.Item>{`and ${value.length - SHOWN_MAX} more`}</List.Item>}
      </List>
    </Alert>
  );
}

/** The alarms of now, and those that are over. */
export function AlarmsTables({ api }: { readonly api: AdminApi }) {
  const [round, setRound] = useState(0);
  const clear = async (): Promise<void> => {
    await api.remove('/alarms');
    setRound((last) => last + 1);
  };
  return (
    <>
      <AlarmsTable api={api} isActive />
      <AlarmsTable key={round} api={api} isActive={false} />
      {!api.isDeployment && (
        <Button variant="default" size="xs" mt="xs" onClick={() => void clear().catch(() => {})}>
          Forget those that are over
        </Button>
      )}
    </>
  );
}

function AlarmsTable({ api, isActive }: { readonly api: AdminApi; readonly isActive: boolean }) {
  const columns = [
    'message',
    'since',
    ...(isActive ? ([] as const) : (['until'] as const)),
    'count',
  ] as const;
  return (
    <SystemsTable<Alarm>
      api={api}
      path={`/alarms?activated=${isActive}`}
      label={isActive ? 'Now' : 'Over'}
      columns={columns.map((name) => observingWords.alarms.columns[name])}
      empty={isActive ? 'There is no alarm.' : 'No alarm is over.'}
      row={({ node, name, message, activate_at, deactivate_at, count }) => (
        <tr key={`${node} ${name} ${activate_at}`}>
          <td className={classes.why}>{visibleText(message)}</td>
          <td className={classes.time}>{formatDateTime(Date.parse(activate_at))}</td>
          {deactivate_at !== null && (
            <td className={classes.time}>{formatDateTime(Date.parse(deactivate_at))}</td>
          )}
          <td className={classes.number}>{formatCount(count)}</td>
        </tr>
      )}
    />
  );
}
