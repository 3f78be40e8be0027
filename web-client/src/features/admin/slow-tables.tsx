import type { DroppingClient, SlowSubscription } from '@apus/api';
import { t } from '../../i18n/index.ts';
import { formatCount, formatDateTime, formatSeconds } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { DROP_REASONS } from './observing-api.ts';
import { SystemsTable } from './systems-table.tsx';

const columns = (
  ...names: readonly (keyof typeof import('./observing-strings.ts').observing.slow.columns)[]
) => names.map((name) => t(`admin.observing.slow.columns.${name}`));

/** Clients that are behind, and clients that have missed messages, by reason. */
export function SlowTables({ api }: { readonly api: AdminApi }) {
  return (
    <>
      <SystemsTable<SlowSubscription>
        api={api}
        path="/slow_subscriptions"
        label={t('admin.observing.slow.behind')}
        columns={columns('client', 'oldest', 'topic', 'waiting', 'inflight', 'state')}
        empty={t('admin.observing.slow.none')}
        row={({ node, clientid, topic, timespan, connected, mqueue_len, inflight_cnt }) => (
          <tr key={`${node} ${clientid}`} data-offline={!connected || undefined}>
            <th scope="row" className={classes.name}>
              {visibleText(clientid)}
            </th>
            <td className={classes.number}>{formatSeconds(timespan)}</td>
            <td className={classes.name}>{visibleText(topic)}</td>
            <td className={classes.number}>{formatCount(mqueue_len)}</td>
            <td className={classes.number}>{formatCount(inflight_cnt)}</td>
            <td>{t(connected ? 'admin.client.connected' : 'admin.offline')}</td>
          </tr>
        )}
      />
      <SystemsTable<DroppingClient>
        api={api}
        path="/dropping_clients"
        label={t('admin.observing.slow.dropping')}
        columns={[
          ...columns('client', 'dropped'),
          ...DROP_REASONS.map((reason) => t(`admin.client.reasons.${reason}`)),
          ...columns('last'),
        ]}
        empty={t('admin.observing.slow.noneMissed')}
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
                ? t('admin.observing.slow.justNow')
                : formatDateTime(Date.parse(entry.last_dropped_at))}
            </td>
          </tr>
        )}
      />
    </>
  );
}
