import type { ClientDetails, SubscriptionLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Drawer, Group, Text } from '@mantine/core';
import { useCallback, useRef, useState } from 'react';
import { formatCount } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { BanDialog } from './ban-dialog.tsx';
import { ClientFacts } from './client-facts.tsx';
import type { ClientLook } from './client-look.ts';
import { DisconnectButton } from './disconnect-button.tsx';
import { ClientEvents } from './events-table.tsx';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

interface ClientDrawerProps {
  readonly api: AdminApi;
  readonly clientId: string;
  readonly isOwn: boolean;
  readonly close: () => void;
}

/** The present state of one client, and its actions. */
export function ClientDrawer({ api, clientId, isOwn, close }: ClientDrawerProps) {
  const [isBanning, setBanning] = useState(false);
  const path = pathWith('/clients/:clientid', { clientid: clientId });
  const last = useRef<ClientLook>(undefined);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const [client, subscriptions] = await Promise.all([
        api.get<ClientDetails>(path, {}, signal),
        api.get<readonly SubscriptionLine[]>(`${path}/subscriptions`, {}, signal),
      ]);
      const now: ClientLook = { atMs: performance.now(), client, subscriptions };
      const before = last.current;
      last.current = now;
      return { now, before };
    },
    [api, path],
  );
  // A ban may end the session before the dialog knows of it.
  const { value, error, refresh } = usePoll(ask, isBanning ? undefined : api.pollMs);
  const isGone = error?.status === 404;
  return (
    <Drawer opened onClose={close} position="right" size={560} title={`Client ${clientId}`}>
      {isGone && <Text size="sm">The client is gone, and its session with it.</Text>}
      {error !== undefined && !isGone && <Refusal error={error} />}
      {value !== undefined && !isGone && (
        <>
          <Group gap="xs" mb="md">
            {value.now.client.connected && (
              <DisconnectButton api={api} clientId={clientId} isOwn={isOwn} done={refresh} />
            )}
            <Button variant="default" size="compact-xs" onClick={() => setBanning(true)}>
              Ban …
            </Button>
          </Group>
          {!api.isDeployment && <ClientEvents api={api} clientId={clientId} label="History" isOfOne />}
          <ClientFacts now={value.now} before={value.before} />
          <Filters subscriptions={value.now.subscriptions} />
        </>
      )}
      {isBanning && (
        <BanDialog
          api={api}
          whom={{ as: 'clientid', who: clientId }}
          close={() => setBanning(false)}
          done={close}
        />
      )}
    </Drawer>
  );
}

/** A session may hold ten thousand: the table of subscriptions has them all. */
const FILTERS_MAX = 50;

function Filters({ subscriptions }: { readonly subscriptions: readonly SubscriptionLine[] }) {
  return (
    <>
      <h3 className={classes.part}>{`Subscriptions (${formatCount(subscriptions.length)})`}</h3>
      <ul className={classes.filters}>
        {subscriptions.slice(0, FILTERS_MAX).map(({ topic, qos }) => (
          <li key={topic}>{`${visibleText(topic)} · QoS ${qos}`}</li>
        ))}
        {subscriptions.length > FILTERS_MAX && <li>…</li>}
      </ul>
    </>
  );
}
