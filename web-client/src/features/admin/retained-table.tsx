import type { RetainedLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Anchor, Button, Text } from '@mantine/core';
import { useCallback, useState } from 'react';
import { formatBytes, formatCount, formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable, type Shown } from './paged-table.tsx';
import { type Chosen, RemoveRetainedDialog } from './remove-retained-dialog.tsx';
import { RetainedDrawer } from './retained-drawer.tsx';
import { usePoll } from './use-poll.ts';

/** The retained messages, with actions to remove them that subscribers do not notice. */
export function RetainedTable({ api }: { readonly api: AdminApi }) {
  const [removed, setRemoved] = useState<Chosen>();
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <PagedTable<RetainedLine>
        api={api}
        label="Retained messages"
        path="/mqtt/retainer/messages"
        search={{ label: 'A topic filter, as sensors/#', parameter: 'topic' }}
        columns={[
          { label: 'Topic', sortKey: ({ topic }) => topic },
          { label: 'QoS', sortKey: ({ qos }) => qos },
          { label: 'Payload', sortKey: (entry) => entry.payload_bytes },
          { label: 'Expires', sortKey: (entry) => entry.expires_at ?? undefined },
          { label: 'Action' },
        ]}
        empty="No retained message matches."
        tools={(shown) => (
          <>
            <RemoveAll shown={shown} remove={setRemoved} />
            {shown.search === '' && !api.isDeployment && <OwnCount api={api} />}
          </>
        )}
        row={({ topic, qos, payload_bytes, expires_at }, refresh) => (
          <tr key={topic}>
            <th scope="row" className={classes.name}>
              <Anchor
                component="button"
                type="button"
                className={classes.link}
                onClick={() => setOpened(topic)}
                title={`Show the payload of ${topic}`}
              >
                {visibleText(topic)}
              </Anchor>
            </th>
            <td>{qos}</td>
            <td className={classes.number}>{formatBytes(payload_bytes)}</td>
            <td className={classes.time}>
              {expires_at === null ? 'never' : formatDateTime(Date.parse(expires_at))}
            </td>
            <td className={classes.action}>
              <ConfirmButton
                label={`Remove the retained message of ${topic}`}
                short="Remove"
                question="Later subscribers get no retained message for this topic. Present ones are sent nothing."
                act={() => api.remove(pathWith('/mqtt/retainer/message/:topic', { topic }))}
                done={refresh}
              />
            </td>
          </tr>
        )}
      />
      {opened !== undefined && (
        <RetainedDrawer key={opened} api={api} topic={opened} close={() => setOpened(undefined)} />
      )}
      {removed !== undefined && (
        <RemoveRetainedDialog api={api} chosen={removed} close={() => setRemoved(undefined)} />
      )}
    </>
  );
}

/** The broker's own, which `#` does not match: the figure above counts them. */
function OwnCount({ api }: { readonly api: AdminApi }) {
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const query = { topic: '$SYS/#', limit: '1' };
      return (await api.page<RetainedLine>('/mqtt/retainer/messages', query, signal)).meta.count ?? 0;
    },
    [api],
  );
  const { value: count = 0 } = usePoll(ask, undefined);
  if (count === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      {`${formatCount(count)} more of the broker itself: search for $SYS/#`}
    </Text>
  );
}

interface RemoveAllProps {
  readonly shown: Shown<RetainedLine>;
  readonly remove: (chosen: Chosen) => void;
}

function RemoveAll({ shown: { count, search }, remove }: RemoveAllProps) {
  return (
    <Button
      variant="default"
      mr="auto"
      disabled={count === 0}
      onClick={() => remove({ filter: search, count })}
    >
      {search === ''
        ? `Remove all (${formatCount(count)}) …`
        : `Remove all that fit (${formatCount(count)}) …`}
    </Button>
  );
}
