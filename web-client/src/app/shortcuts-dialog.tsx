import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { t } from '../i18n/index.ts';
import { VIEW_IDS } from '../state/view-ids.ts';
import { SHORTCUT_KEYS, useShortcutsEnabled } from './shortcuts.ts';

const ACTIONS = ['filter', 'pause', 'subscribe', 'publish', 'help'] as const;

export function ShortcutsDialog({ close }: { readonly close: () => void }) {
  const [isEnabled, setEnabled] = useShortcutsEnabled();
  return (
    <Modal
      opened
      onClose={close}
      title={t('app.shortcuts.label')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="md">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={130}>{t('app.shortcuts.key')}</Table.Th>
              <Table.Th>{t('app.shortcuts.action')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ACTIONS.map((action) => (
              <Row key={action} keys={[SHORTCUT_KEYS[action]]} text={t(`app.shortcuts.${action}`)} />
            ))}
            <Row keys={['Ctrl', 'K']} text={t('app.shortcuts.palette')} />
            <Row keys={['1', '…', String(VIEW_IDS.length)]} text={t('app.shortcuts.views')} />
            <Row keys={['Ctrl', 'Enter']} text={t('app.shortcuts.send')} />
            <Row keys={['↑', '↓', 'Home', 'End']} text={t('app.shortcuts.list')} />
            <Row keys={['Esc']} text={t('app.shortcuts.close')} />
          </Table.Tbody>
        </Table>
        <Switch
          label={t('app.shortcuts.enabled')}
          description={t('app.shortcuts.enabledHint')}
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
