import { pathWith } from '@apus/api/path';
import { Badge, Button, Title } from '@mantine/core';
import { type ReactNode, useCallback } from 'react';
import { formatCount } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { Refusal } from './refusal.tsx';
import { type BridgeEntry, notCarried, type RuleEntry } from './systems-api.ts';
import { systemsWords } from './systems-strings.ts';
import { Table } from './table.tsx';
import { usePoll } from './use-poll.ts';

const COLOURS = { connected: 'teal', connecting: 'gray', disconnected: 'red', stopped: 'gray' } as const;

/**
 * The systems that the broker exchanges messages with: their state, and undelivered messages. For a bridge of a
 * deployment only CloudWatch knows them.
 */
export function SystemsTables({ api }: { readonly api: AdminApi }) {
  const columns = (...names: readonly (keyof typeof systemsWords.columns)[]) =>
    names.map((name) => systemsWords.columns[name]);
  return (
    <>
      <SystemsTable<BridgeEntry>
        api={api}
        path="/bridges"
        label="Bridges"
        columns={columns(
          ...(['name', 'remote'] as const),
          ...(api.isDeployment
            ? ([] as const)
            : (['status', 'in', 'lag', 'out', 'waiting', 'failed', 'error'] as const)),
        )}
        empty={
          api.isDeployment
            ? 'This deployment has no bridges for this tenant: npm run deploy -- --bridges FILE.'
            : 'This node has no bridges: apus serve --bridges FILE.'
        }
        row={(bridge) => <BridgeRow key={bridge.name} bridge={bridge} isDeployment={api.isDeployment} />}
      />
      <SystemsTable<RuleEntry>
        api={api}
        path="/rules"
        label="Rules"
        columns={[
          ...columns(
            ...(['name', 'filter', 'target'] as const),
            ...(api.isDeployment ? ([] as const) : (['status', 'sent', 'waiting'] as const)),
            'dead',
            ...(api.isDeployment ? ([] as const) : (['error'] as const)),
          ),
          'Action',
        ]}
        empty={
          api.isDeployment
            ? 'This deployment has no rules for this tenant: npm run deploy -- --rules FILE.'
            : 'This node has no rules: apus serve --rules FILE.'
        }
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
          Ask again
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
            label={`Send again the dead letters of ${name}`}
            short="Send again"
            question="They are tried once, oldest first, up to the first that fails. It and the others stay."
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
      {systemsWords.status[status]}
    </Badge>
  );
}

export function Count({ count }: { readonly count: number | undefined }) {
  return <td className={classes.number}>{count === undefined ? '' : formatCount(count)}</td>;
}
