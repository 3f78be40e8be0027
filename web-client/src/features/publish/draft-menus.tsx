import { Group, Menu, ScrollArea, Text } from '@mantine/core';
import { IconBookmark, IconBookmarkPlus, IconHistory, IconTrash, IconX } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { StoredDraft } from '../../state/database.ts';
import { formatDateTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { clearHistory, deleteDraft, useArchive } from './draft-archive.ts';
import { setDraft } from './publish-store.ts';

const TemplateDialog = lazy(async () => ({
  default: (await import('./template-dialog.tsx')).TemplateDialog,
}));

const ICON = { size: 16, stroke: 1.5 } as const;

/** Characters of a payload in a menu. */
const SHOWN_LENGTH_MAX = 60;

/** The menus of published messages and of saved templates. */
export function DraftMenus({ id }: { readonly id: string }) {
  return (
    <>
      <HistoryMenu id={id} />
      <TemplateMenu id={id} />
    </>
  );
}

function HistoryMenu({ id }: { readonly id: string }) {
  const drafts = useArchive('history');
  return (
    <Menu position="top-end" width={380}>
      <Menu.Target>
        <IconButton label="History">
          <IconHistory {...ICON} />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown>
        {drafts.length === 0 && <Menu.Label>Nothing was published yet.</Menu.Label>}
        <ScrollArea.Autosize mah={320} type="auto">
          {drafts.map((stored) => (
            <Menu.Item key={stored.id} onClick={() => setDraft(id, stored.draft)}>
              <DraftLine stored={stored} title={stored.draft.topic} />
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
        {drafts.length > 0 && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<IconTrash {...ICON} />} onClick={() => void clearHistory()}>
              Clear the history
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function TemplateMenu({ id }: { readonly id: string }) {
  const drafts = useArchive('template');
  const [isNaming, setNaming] = useState(false);
  return (
    <>
      <Menu position="top-end" width={380}>
        <Menu.Target>
          <IconButton label="Templates">
            <IconBookmark {...ICON} />
          </IconButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconBookmarkPlus {...ICON} />} onClick={() => setNaming(true)}>
            Save as a template …
          </Menu.Item>
          <Menu.Divider />
          {drafts.length === 0 && <Menu.Label>No template yet: save the message as one.</Menu.Label>}
          <ScrollArea.Autosize mah={320} type="auto">
            {drafts.map((stored) => (
              <Group key={stored.id} gap={0} wrap="nowrap">
                <Menu.Item flex={1} miw={0} onClick={() => setDraft(id, stored.draft)}>
                  <DraftLine stored={stored} title={stored.name} />
                </Menu.Item>
                <IconButton
                  role="menuitem"
                  label={`Delete the template ${stored.name}`}
                  onClick={() => void deleteDraft(stored.id)}
                >
                  <IconX size={14} stroke={1.5} />
                </IconButton>
              </Group>
            ))}
          </ScrollArea.Autosize>
        </Menu.Dropdown>
      </Menu>
      {isNaming && (
        <Suspense>
          <TemplateDialog id={id} close={() => setNaming(false)} />
        </Suspense>
      )}
    </>
  );
}

function DraftLine({ stored, title }: { readonly stored: StoredDraft; readonly title: string }) {
  const { qos, retain, payload, topic } = stored.draft;
  const about = [`QoS ${qos}`, ...(retain ? ['retain'] : []), formatDateTime(stored.atMs)].join(' · ');
  return (
    <>
      <Text size="xs" fw={600} truncate>
        {visibleText(title === topic ? title : `${title} · ${topic}`)}
      </Text>
      <Text size="xs" ff="monospace" truncate>
        {payload.replaceAll(/\s+/g, ' ').slice(0, SHOWN_LENGTH_MAX)}
      </Text>
      <Text size="xs">{about}</Text>
    </>
  );
}
