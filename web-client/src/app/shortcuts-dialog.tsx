import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { VIEW_IDS } from '../state/view-ids.ts';
import { SHORTCUT_KEYS, useShortcutsEnabled } from './shortcuts.ts';
import { appWords } from './strings.ts';

const ACTIONS = ['filter', 'pause', 'subscribe', 'publish', 'help'] as const;

export function ShortcutsDialog({ close }: { readonly close: () => void }) {
  const [isEnabled, setEnabled] = useShortcutsEnabled();
  return (
    <Modal opened onClose={close} title="Keyboard shortcuts">
      <Stack gap="md">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={130}>Key</Table.Th>
              <Table.Th>Action</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ACTIONS.map((action) => (
              <Row key={action} keys={[SHORTCUT_KEYS[action]]} text={appWords.shortcuts[action]} />
            ))}
            <Row keys={['Ctrl', 'K']} text="Find and run any command" />
            <Row
              keys={['1', '…', String(VIEW_IDS.length)]}
              text="Open a view, in the order of the navigation"
            />
            <Row keys={['Ctrl', 'Enter']} text="Publish, from anywhere in the publish panel" />
            <Row keys={['↑', '↓', 'Home', 'End']} text="In lists: up, down, first, last" />
            <Row keys={['Esc']} text="Close a dialog or the details" />
          </Table.Tbody>
        </Table>
        <Switch
          label="Single keys are shortcuts"
          description="Turn it off if you control the page by voice"
          checked={isEnabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}

function Row({ keys, text }: { readonly keys: readonly string[]; readonly text: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        {keys.map((key) => (
          <Kbd key={key} size="xs" mr={4}>
            {key}
          </Kbd>
        ))}
      </Table.Td>
      <Table.Td>{text}</Table.Td>
    </Table.Tr>
  );
}
