import type { Client } from '@apus/api';
import { Anchor } from '@mantine/core';
import { useState } from 'react';
import { useActiveProfile, useStatus } from '../../state/hooks.ts';
import { formatCount, formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { connectionsWords } from '../connections/strings.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ClientDrawer } from './client-drawer.tsx';
import { DisconnectButton } from './disconnect-button.tsx';
import { versionOf } from './mqtt-version.ts';
import { PagedTable } from './paged-table.tsx';

/** Connected clients, and sessions whose clients are away. */
export function ClientsTable({ api }: { readonly api: AdminApi }) {
  const own = useStatus(useActiveProfile()?.id).session?.clientId;
  const [looked, setLooked] = useState<string>();
  return (
    <>
      <PagedTable<Client>
        api={api}
        label="Clients"
        path="/clients"
        search={{ label: 'Part of the client identifier', parameter: 'like_clientid' }}
        columns={[
          { label: 'Client identifier', sortKey: ({ clientid }) => clientid },
          { label: 'User', sortKey: ({ username }) => username ?? undefined },
          { label: 'Door', sortKey: ({ door }) => door ?? undefined },
          { label: 'MQTT', sortKey: (client) => client.proto_ver ?? undefined },
          { label: 'Address', sortKey: (client) => client.ip_address ?? undefined },
          { label: 'Since', sortKey: sinceOf },
          {
            label: 'Subscriptions',
            sortKey: (client) => client.subscriptions_cnt ?? undefined,
          },
          { label: 'Waiting', sortKey: (client) => client.mqueue_len ?? undefined },
          { label: 'Dropped', sortKey: (client) => client['send_msg.dropped'] ?? 0 },
          { label: 'Action' },
        ]}
        empty="No connected client matches."
        row={(client, refresh) => (
          <ClientRow
            key={client.clientid}
            api={api}
            client={client}
            isOwn={client.clientid === own}
            refresh={refresh}
            look={() => setLooked(client.clientid)}
          />
        )}
      />
      {looked !== undefined && (
        <ClientDrawer
          key={looked}
          api={api}
          clientId={looked}
          isOwn={looked === own}
          close={() => setLooked(undefined)}
        />
      )}
    </>
  );
}

interface ClientRowProps {
  readonly api: AdminApi;
  readonly client: Client;
  readonly isOwn: boolean;
  readonly refresh: () => void;
  /** Shows its details. */
  readonly look: () => void;
}

function ClientRow({ api, client, isOwn, refresh, look }: ClientRowProps) {
  const { clientid, username, connected, door, proto_ver, ip_address } = client;
  return (
    <tr data-offline={!connected || undefined}>
      <th scope="row" className={classes.name}>
        <Anchor
          component="button"
          type="button"
          className={classes.link}
          onClick={look}
          title="Details of this client"
        >
          {visibleText(clientid)}
        </Anchor>
        {isOwn && <span className={classes.own}> this page</span>}
      </th>
      <td>{visibleText(username ?? '–')}</td>
      <td>{door === null ? 'not connected' : connectionsWords.door[door]}</td>
      <td>{versionOf(proto_ver)}</td>
      <td>{ip_address ?? '–'}</td>
      <td className={classes.time}>{formatDateTime(Date.parse(sinceOf(client)))}</td>
      <td className={classes.number}>{countOf(client.subscriptions_cnt)}</td>
      <td className={classes.number}>{countOf(client.mqueue_len)}</td>
      <td className={classes.number}>{countOf(client['send_msg.dropped'])}</td>
      <td className={classes.action}>
        {connected && <DisconnectButton api={api} clientId={clientid} isOwn={isOwn} done={refresh} />}
      </td>
    </tr>
  );
}

/** Empty if the broker does not tell it. */
function countOf(count: number | null | undefined): string {
  return count === null ? '–' : formatCount(count ?? 0);
}

function sinceOf(client: Client): string {
  return client.connected ? client.connected_at : (client.disconnected_at ?? client.connected_at);
}
