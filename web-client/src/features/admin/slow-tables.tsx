import type { DroppingClient, SlowSubscription } from '@apus/api';
import { formatCount, formatDateTime, formatSeconds } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { DROP_REASONS } from './observing-api.ts';
import { observingWords } from './observing-strings.ts';
import { adminWords } from './strings.ts';
import { SystemsTable } from './systems-table.tsx';

const columns = (...names: readonly (keyof typeof observingWords.slow.columns)[]) =>
  names.map((name) => observingWords.slow.columns[name]);

/** Clients that are behind, and clients that have missed messages, by reason. */
export function SlowTables({ api }: { readonly api: AdminApi }) {
  return (
    <>
      <SystemsTable<SlowSubscription>
        api={api}
        path="/slow_subscriptions"
        label="Clients that are behind, the longest first"
        columns={columns('client', 'oldest', 'topic', 'waiting', 'inflight', 'state')}
        empty="No client is behind."
        row={({ node, clientid, topic, timespan, connected, mqueue_len, inflight_cnt }) => (
          <tr key={`${node} ${clientid}`} data-offline={!connected || undefined}>
            <th scope="row" className={classes.name}>
              {visibleText(clientid)}
            </th>
            <td className={classes.number}>{formatSeconds(timespan)}</td>
            <td className={classes.name}>{visibleText(topic)}</td>
            <td className={classes.number}>{formatCount(mqueue_len)}</td>
            <td className={classes.number}>{formatCount(inflight_cnt)}</td>
            <td>{connected ? 'connected' : 'not connected'}</td>
          </tr>
        )}
      />
      <SystemsTable<DroppingClient>
        api={api}
        path="/dropping_clients"
        label="Clients that have missed messages, the most first"
        columns={[
          ...columns('client', 'dropped'),
          ...DROP_REASONS.map((reason) => adminWords.client.reasons[reason]),
          ...columns('last'),
        ]}
        empty="No client has missed a message."
        row={(entry) => (
          <tr key={`${entry.node} ${entry.clientid}`}>
            <th scope="row" className={classes.name}>
              {visibleText(entry.clientid)}
            </th>
            <td className={classes.number}>{formatCount(entry.dropped)}</td>
            {DROP_REASONS.map((reason) => (
              <td key={reason} className={classes.number}>
                {formatCount(entry[`dropped.${reason}`])}
              </td>
            ))}
            <td className={classes.time}>
              {entry.last_dropped_at === null
                ? 'in the last half minute'
                : formatDateTime(Date.parse(entry.last_dropped_at))}
            </td>
          </tr>
        )}
      />
    </>
  );
}
