import { pathWith } from '@apus/api/path';
import { Badge, Button, Title } from '@mantine/core';
import { type ReactNode, useCallback } from 'react';
import { t } from '../../i18n/index.ts';
import { formatCount } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { Refusal } from './refusal.tsx';
import { type BridgeEntry, notCarried, type RuleEntry } from './systems-api.ts';
import { Table } from './table.tsx';
import { usePoll } from './use-poll.ts';

const COLOURS = { connected: 'teal', connecting: 'gray', disconnected: 'red', stopped: 'gray' } as const;

/**
 * The systems that the broker exchanges messages with: their state, and undelivered messages. For a bridge of a
 * deployment only CloudWatch knows them.
 */
export function SystemsTables({ api }: { readonly api: AdminApi }) {
  const columns = (...names: readonly (keyof typeof import('./systems-strings.ts').systems.columns)[]) =>
    names.map((name) => t(`admin.systems.columns.${name}`));
  return (
    <>
      <SystemsTable<BridgeEntry>
        api={api}
        path="/bridges"
        label={t('admin.systems.bridges')}
        columns={columns(
          ...(['name', 'remote'] as const),
          ...(api.isDeployment
            ? ([] as const)
            : (['status', 'in', 'lag', 'out', 'waiting', 'failed', 'error'] as const)),
        )}
        empty={t(api.isDeployment ? 'admin.systems.noDeployedBridges' : 'admin.systems.noBridges')}
        row={(bridge) => <BridgeRow key={bridge.name} bridge={bridge} isDeployment={api.isDeployment} />}
      />
      <SystemsTable<RuleEntry>
        api={api}
        path="/rules"
        label={t('admin.systems.rules')}
        columns={[
          ...columns(
            ...(['name', 'filter', 'target'] as const),
            ...(api.isDeployment ? ([] as const) : (['status', 'sent', 'waiting'] as const)),
            'dead',
            ...(api.isDeployment ? ([] as const) : (['error'] as const)),
          ),
          t('admin.columns.action'),
        ]}
        empty={t(api.isDeployment ? 'admin.systems.noDeployedRules' : 'admin.systems.noRules')}
        row={(rule, refresh) => <RuleRow key={rule.name} api={api} rule={rule} refresh={refresh} />}
      />
    </>
  );
}

interface TableProps<T> {
  readonly api: AdminApi;
  readonly path: string;
  readonly label: string;
  readonly columns: readonly string[];
  readonly empty: string;
  readonly row: (entry: T, refresh: () => void) => ReactNode;
  /** @default all of them */
  readonly rowsMax?: number;
}

/** A table for a list that the API returns as a whole. */
export function SystemsTable<T>({ api, path, label, columns, empty, row, rowsMax }: TableProps<T>) {
  const ask = useCallback(
    async (signal: AbortSignal) => (await api.page<T>(path, {}, signal)).data,
    [api, path],
  );
  const { value, error, refresh } = usePoll<readonly T[]>(ask, api.pollMs);
  return (
    <>
      <Title order={3} size="h5" mb="xs" mt="sm">
        {label}
      </Title>
      {api.isDeployment && (
        <Button variant="default" size="xs" mb="xs" onClick={refresh}>
          {t('admin.refresh')}
        </Button>
      )}
      {error !== undefined && <Refusal error={error} />}
      <Table label={label} columns={columns} empty={value?.length === 0 ? empty : undefined}>
        {value?.slice(0, rowsMax).map((entry) => row(entry, refresh))}
      </Table>
    </>
  );
}

interface BridgeRowProps {
  readonly bridge: BridgeEntry;
  readonly isDeployment: boolean;
}

function BridgeRow({ bridge, isDeployment }: BridgeRowProps) {
  const { name, type, remote, status, last_error, in: into, out } = bridge;
  return (
    <tr>
      <th scope="row" className={classes.name}>
        {name}
      </th>
      <td>{`${type} ${visibleText(remote)}`}</td>
      {!isDeployment && (
        <>
          <td>{status !== null && <Status status={status} />}</td>
          <Count count={into.forwarded} />
          <Count count={into.lag ?? undefined} />
          <Count count={out.forwarded} />
          <Count count={out.waiting ?? undefined} />
          <Count count={notCarried(bridge)} />
          <td>{last_error === null ? '' : visibleText(last_error)}</td>
        </>
      )}
    </tr>
  );
}

interface RuleRowProps {
  readonly api: AdminApi;
  readonly rule: RuleEntry;
  readonly refresh: () => void;
}

function RuleRow({ api, rule, refresh }: RuleRowProps) {
  const { name, filter, type, remote, status, last_error, sent, waiting, inflight, dead_letters } = rule;
  return (
    <tr>
      <th scope="row" className={classes.name}>
        {name}
      </th>
      <td title={rule.when ?? undefined}>{visibleText(filter)}</td>
      <td>{`${type} ${visibleText(remote)}`}</td>
      {!api.isDeployment && (
        <>
          <td>{status !== null && <Status status={status} />}</td>
          <Count count={sent ?? undefined} />
          <Count count={(waiting ?? 0) + (inflight ?? 0)} />
        </>
      )}
      <Count count={dead_letters} />
      {!api.isDeployment && <td>{last_error === null ? '' : visibleText(last_error)}</td>}
      <td className={classes.action}>
        {dead_letters > 0 && (
          <ConfirmButton
            label={t('admin.systems.sendAgain', { name })}
            short={t('admin.systems.sendAgainShort')}
            question={t('admin.systems.sendAgainText')}
            act={() => api.post(pathWith('/rules/:name/dead_letters/send', { name }), {})}
            done={refresh}
          />
        )}
      </td>
    </tr>
  );
}

function Status({ status }: { readonly status: keyof typeof COLOURS }) {
  return (
    <Badge variant="light" color={COLOURS[status]} tt="none">
      {t(`admin.systems.status.${status}`)}
    </Badge>
  );
}

export function Count({ count }: { readonly count: number | undefined }) {
  return <td className={classes.number}>{count === undefined ? '' : formatCount(count)}</td>;
}
