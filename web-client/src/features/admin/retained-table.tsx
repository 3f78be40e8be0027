import type { RetainedLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Anchor, Button, Checkbox, Group, Text } from '@mantine/core';
import { useCallback, useState } from 'react';
import { t } from '../../i18n/index.ts';
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
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [removed, setRemoved] = useState<Chosen>();
  const [opened, setOpened] = useState<string>();
  const tick = (topics: readonly string[], isTicked: boolean): void => {
    const next = new Set(ticked);
    for (const topic of topics) {
      if (isTicked) next.add(topic);
      else next.delete(topic);
    }
    setTicked(next);
  };
  return (
    <>
      <PagedTable<RetainedLine>
        api={api}
        label={t('admin.tabs.retained')}
        path="/mqtt/retainer/messages"
        search={{ label: t('admin.searchRetained'), parameter: 'topic' }}
        columns={[
          { label: t('admin.columns.topic'), sortKey: ({ topic }) => topic },
          { label: t('admin.columns.qos'), sortKey: ({ qos }) => qos },
          { label: t('admin.columns.size'), sortKey: (entry) => entry.payload_bytes },
          { label: t('admin.columns.expires'), sortKey: (entry) => entry.expires_at ?? undefined },
          { label: t('admin.columns.action') },
        ]}
        empty={t('admin.noRetained')}
        tools={(shown) => (
          <>
            <Tools shown={shown} ticked={ticked} tick={tick} remove={setRemoved} />
            {shown.search === '' && !api.isDeployment && <OwnCount api={api} />}
          </>
        )}
        row={({ topic, qos, payload_bytes, expires_at }, refresh) => (
          <tr key={topic}>
            <th scope="row" className={classes.name}>
              <Group gap={8} wrap="nowrap">
                <Checkbox
                  aria-label={t('admin.bulk.tick', { name: topic })}
                  checked={ticked.has(topic)}
                  onChange={(event) => tick([topic], event.currentTarget.checked)}
                />
                <Anchor
                  component="button"
                  type="button"
                  className={classes.link}
                  onClick={() => setOpened(topic)}
                  title={t('admin.retainedOpen', { name: topic })}
                >
                  {visibleText(topic)}
                </Anchor>
              </Group>
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
        <RemoveRetainedDialog
          api={api}
          chosen={removed}
          close={() => {
            setRemoved(undefined);
            setTicked(new Set());
          }}
        />
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
      {t('admin.retainedOwn', { count, shown: formatCount(count) })}
    </Text>
  );
}

interface ToolsProps {
  readonly shown: Shown<RetainedLine>;
  readonly ticked: ReadonlySet<string>;
  readonly tick: (topics: readonly string[], isTicked: boolean) => void;
  readonly remove: (chosen: Chosen) => void;
}

/** For many of them at a time. */
function Tools({ shown, ticked, tick, remove }: ToolsProps) {
  const { entries, count, search } = shown;
  const topics = entries.map(({ topic }) => topic);
  const isEach = topics.length > 0 && topics.every((topic) => ticked.has(topic));
  return (
    <Group gap="xs" mr="auto">
      <Checkbox
        label={t('admin.bulk.tickPage')}
        checked={isEach}
        disabled={topics.length === 0}
        onChange={(event) => tick(topics, event.currentTarget.checked)}
      />
      <Button variant="default" disabled={ticked.size === 0} onClick={() => remove({ topics: [...ticked] })}>
        {t('admin.bulk.ticked', { count: ticked.size, shown: formatCount(ticked.size) })}
      </Button>
      <Button variant="default" disabled={count === 0} onClick={() => remove({ filter: search, count })}>
        {t(search === '' ? 'admin.bulk.all' : 'admin.bulk.fitting', { count, shown: formatCount(count) })}
      </Button>
    </Group>
  );
}
