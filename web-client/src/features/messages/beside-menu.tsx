import { Checkbox, Popover, ScrollArea, Stack, Text } from '@mantine/core';
import { IconLayoutColumns } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useStore } from '../../state/store.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { BESIDE_MAX, toggleBeside, useShownIds } from './beside.ts';

/** Connections in the menu; the command palette finds the others. */
const OFFERED_MAX = 50;

/** Selects the connections whose messages are shown side by side. */
export function BesideMenu({ activeId }: { readonly activeId: string }) {
  const { t } = useTranslation();
  const profiles = useStore((state) => state.profiles);
  const shown = useShownIds(activeId);
  return (
    <Popover position="bottom-end" shadow="md" withinPortal trapFocus returnFocus>
      <Popover.Target>
        <IconButton
          label={t('messages.beside')}
          variant={shown.length > 1 ? 'light' : 'subtle'}
          disabled={profiles.length < 2}
        >
          <IconLayoutColumns size={16} stroke={1.5} />
        </IconButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('messages.beside')}>
        <Text size="xs" c="dimmed" mb="xs">
          {t('messages.besideText', { count: BESIDE_MAX })}
        </Text>
        <ScrollArea.Autosize mah={320} type="auto">
          <Stack gap={8}>
            {profiles.slice(0, OFFERED_MAX).map(({ id, name }) => (
              <Checkbox
                key={id}
                label={name === '' ? t('connections.unnamed') : name}
                checked={shown.includes(id)}
                disabled={shown.includes(id) ? shown.length === 1 : shown.length >= BESIDE_MAX}
                onChange={() => toggleBeside(shown, id)}
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
