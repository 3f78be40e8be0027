import { useTranslation } from 'react-i18next';
import { useActiveProfile, useStatus } from '../../state/hooks.ts';
import { formatCount, formatDateTime } from '../../ui/format.ts';
import type { AdminApi, Client } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable } from './paged-table.tsx';

/** Who is connected, and whose session waits for them. */
export function ClientsTable({ api }: { readonly api: AdminApi }) {
  const { t } = useTranslation();
  const own = useStatus(useActiveProfile()?.id).session?.clientId;
  return (
    <PagedTable<Client>
      api={api}
      label={t('admin.tabs.clients')}
      path="/clients"
      search={{ label: t('admin.searchClients'), parameter: 'like_clientid' }}
      columns={[
        t('admin.columns.clientId'),
        t('admin.columns.user'),
        t('admin.columns.door'),
        t('admin.columns.version'),
        t('admin.columns.address'),
        t('admin.columns.since'),
        t('admin.columns.subscriptions'),
        t('admin.columns.waiting'),
        t('admin.columns.action'),
      ]}
      empty={t('admin.noClients')}
      row={(client, refresh) => (
        <ClientRow
          key={client.clientid}
          api={api}
          client={client}
          isOwn={client.clientid === own}
          refresh={refresh}
        />
      )}
    />
  );
}

interface ClientRowProps {
  readonly api: AdminApi;
  readonly client: Client;
  readonly isOwn: boolean;
  readonly refresh: () => void;
}

function ClientRow({ api, client, isOwn, refresh }: ClientRowProps) {
  const { t } = useTranslation();
  const { clientid, username, connected, door, proto_ver, ip_address } = client;
  const since = connected ? client.connected_at : (client.disconnected_at ?? client.connected_at);
  return (
    <tr data-offline={!connected || undefined}>
      <th scope="row" className={classes.name}>
        {clientid}
        {isOwn && <span className={classes.own}> {t('admin.thisPage')}</span>}
      </th>
      <td>{username ?? '–'}</td>
      <td>{door === null ? t('admin.offline') : t(`connections.door.${door}`)}</td>
      <td>{versionOf(proto_ver)}</td>
      <td>{ip_address ?? '–'}</td>
      <td className={classes.time}>{formatDateTime(Date.parse(since))}</td>
      <td className={classes.number}>{formatCount(client.subscriptions_cnt)}</td>
      <td className={classes.number}>{formatCount(client.mqueue_len)}</td>
      <td className={classes.action}>
        {connected && (
          <ConfirmButton
            label={t('admin.disconnect', { name: clientid })}
            short={t('admin.disconnectShort')}
            question={t(isOwn ? 'admin.disconnectOwn' : 'admin.disconnectText', { name: clientid })}
            act={() => api.remove(`/clients/${encodeURIComponent(clientid)}`)}
            done={refresh}
          />
        )}
      </td>
    </tr>
  );
}

function versionOf(version: number | null): string {
  return version === null ? '–' : ({ 3: '3.1', 4: '3.1.1', 5: '5.0' }[version] ?? String(version));
}
