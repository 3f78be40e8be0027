import type { SubscriptionLine } from '@apus/api';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { PagedTable } from './paged-table.tsx';

/** The filters and their subscribers; a search by a topic finds the subscribers that would get its messages. */
export function SubscriptionsTable({ api }: { readonly api: AdminApi }) {
  return (
    <PagedTable<SubscriptionLine>
      api={api}
      label="Subscriptions"
      path="/subscriptions"
      search={{ label: 'A topic, to find its subscribers', parameter: 'match_topic' }}
      columns={[
        { label: 'Topic filter', sortKey: ({ topic }) => topic },
        { label: 'Client identifier', sortKey: ({ clientid }) => clientid },
        { label: 'QoS', sortKey: ({ qos }) => qos },
        { label: 'Options' },
      ]}
      empty="No subscription matches."
      row={({ clientid, topic, qos, nl, rap, id }) => (
        <tr key={`${clientid}\0${topic}`}>
          <th scope="row" className={classes.name}>
            {visibleText(topic)}
          </th>
          <td className={classes.name}>{visibleText(clientid)}</td>
          <td>{qos}</td>
          <td>
            {[
              nl === 1 ? 'no local' : '',
              rap === 1 ? 'retain as published' : '',
              id === null ? '' : `identifier ${id}`,
            ]
              .filter((option) => option !== '')
              .join(', ') || '–'}
          </td>
        </tr>
      )}
    />
  );
}
