import { useTranslation } from 'react-i18next';
import { formatBytes, formatDateTime } from '../../ui/format.ts';
import type { AdminApi, Retained } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable } from './paged-table.tsx';

/** What is retained, and a way to remove it that no subscriber notices. */
export function RetainedTable({ api }: { readonly api: AdminApi }) {
  const { t } = useTranslation();
  return (
    <PagedTable<Retained>
      api={api}
      label={t('admin.tabs.retained')}
      path="/mqtt/retainer/messages"
      search={{ label: t('admin.searchRetained'), parameter: 'topic' }}
      columns={[
        t('admin.columns.topic'),
        t('admin.columns.qos'),
        t('admin.columns.size'),
        t('admin.columns.expires'),
        t('admin.columns.action'),
      ]}
      empty={t('admin.noRetained')}
      row={({ topic, qos, payload_bytes, expires_at }, refresh) => (
        <tr key={topic}>
          <th scope="row" className={classes.name}>
            {topic}
          </th>
          <td>{qos}</td>
          <td className={classes.number}>{formatBytes(payload_bytes)}</td>
          <td className={classes.time}>
            {expires_at === null ? t('admin.never') : formatDateTime(Date.parse(expires_at))}
          </td>
          <td className={classes.action}>
            <ConfirmButton
              label={t('admin.remove', { name: topic })}
              short={t('admin.removeShort')}
              question={t('admin.removeText', { name: topic })}
              act={() => api.remove(`/mqtt/retainer/message/${encodeURIComponent(topic)}`)}
              done={refresh}
            />
          </td>
        </tr>
      )}
    />
  );
}
