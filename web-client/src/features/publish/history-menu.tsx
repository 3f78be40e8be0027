import { Menu, ScrollArea, Text } from '@mantine/core';
import { IconHistory, IconTrash } from '@tabler/icons-react';
import type { StoredDraft } from '../../state/database.ts';
import { formatDateTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { clearHistory, useHistory } from './draft-archive.ts';
import { setDraft } from './publish-store.ts';

const ICON = { size: 16, stroke: 1.5 } as const;

/** Characters of a payload in a menu. */
const SHOWN_LENGTH_MAX = 60;

/** The menu of published messages. */
export function HistoryMenu({ id }: { readonly id: string }) {
  const drafts = useHistory();
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
              <DraftLine stored={stored} />
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

function DraftLine({ stored: { draft, atMs } }: { readonly stored: StoredDraft }) {
  const { qos, retain, payload, topic } = draft;
  const about = [`QoS ${qos}`, ...(retain ? ['retain'] : []), formatDateTime(atMs)].join(' · ');
  return (
    <>
      <Text size="xs" fw={600} truncate>
        {visibleText(topic)}
      </Text>
      <Text size="xs" ff="monospace" truncate>
        {payload.replaceAll(/\s+/g, ' ').slice(0, SHOWN_LENGTH_MAX)}
      </Text>
      <Text size="xs">{about}</Text>
    </>
  );
}
