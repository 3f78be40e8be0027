import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes, formatCount, formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi, Retained } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable, type Shown } from './paged-table.tsx';
import { type Chosen, RemoveRetainedDialog } from './remove-retained-dialog.tsx';

/** The retained messages, with actions to remove them that subscribers do not notice. */
export function RetainedTable({ api }: { readonly api: AdminApi }) {
  const { t } = useTranslation();
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [removed, setRemoved] = useState<Chosen>();
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
      <PagedTable<Retained>
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
        tools={(shown) => <Tools shown={shown} ticked={ticked} tick={tick} remove={setRemoved} />}
        row={({ topic, qos, payload_bytes, expires_at }, refresh) => (
          <tr key={topic}>
            <th scope="row" className={classes.name}>
              <Group gap={8} wrap="nowrap">
                <Checkbox
                  aria-label={t('admin.bulk.tick', { name: topic })}
                  checked={ticked.has(topic)}
                  onChange={(event) => tick([topic], event.currentTarget.checked)}
                />
                {visibleText(topic)}
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
                act={() => api.remove(`/mqtt/retainer/message/${encodeURIComponent(topic)}`)}
                done={refresh}
              />
            </td>
          </tr>
        )}
      />
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

interface ToolsProps {
  readonly shown: Shown<Retained>;
  readonly ticked: ReadonlySet<string>;
  readonly tick: (topics: readonly string[], isTicked: boolean) => void;
  readonly remove: (chosen: Chosen) => void;
}

/** For many of them at a time. */
function Tools({ shown, ticked, tick, remove }: ToolsProps) {
  const { t } = useTranslation();
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
