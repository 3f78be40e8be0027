import type { SubscriptionLine } from '@apus/api';
import { t } from '../../i18n/index.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { PagedTable } from './paged-table.tsx';

/** The filters and their subscribers; a search by a topic finds the subscribers that would get its messages. */
export function SubscriptionsTable({ api }: { readonly api: AdminApi }) {
  return (
    <PagedTable<SubscriptionLine>
      api={api}
      label={t('admin.tabs.subscriptions')}
      path="/subscriptions"
      search={{ label: t('admin.searchSubscriptions'), parameter: 'match_topic' }}
      columns={[
        { label: t('admin.columns.filter'), sortKey: ({ topic }) => topic },
        { label: t('admin.columns.clientId'), sortKey: ({ clientid }) => clientid },
        { label: t('admin.columns.qos'), sortKey: ({ qos }) => qos },
        { label: t('admin.columns.options') },
      ]}
      empty={t('admin.noSubscriptions')}
      row={({ clientid, topic, qos, nl, rap, id }) => (
        <tr key={`${clientid}\0${topic}`}>
          <th scope="row" className={classes.name}>
            {visibleText(topic)}
          </th>
          <td className={classes.name}>{visibleText(clientid)}</td>
          <td>{qos}</td>
          <td>
            {[
              nl === 1 ? t('admin.noLocal') : '',
              rap === 1 ? t('admin.retainAsPublished') : '',
              id === null ? '' : t('admin.identifier', { id }),
            ]
              .filter((option) => option !== '')
              .join(', ') || '–'}
          </td>
        </tr>
      )}
    />
  );
}
