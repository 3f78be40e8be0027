import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { t } from '../../i18n/index.ts';
import { useActiveProfile } from '../../state/hooks.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { COLUMN_IDS, chooseColumns, FIXED_COLUMN, useChosenColumns } from './columns.ts';

/** Selects the columns of the table. */
export function ColumnsMenu() {
  const chosen = useChosenColumns(useActiveProfile()?.subscriptions);
  return (
    <Popover position="bottom-end" shadow="md" withinPortal trapFocus returnFocus>
      <Popover.Target>
        <IconButton label={t('messages.chooseColumns')}>
          <IconColumns3 size={16} stroke={1.5} />
        </IconButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('messages.chooseColumns')}>
        <Checkbox.Group aria-label={t('messages.chooseColumns')} value={[...chosen]} onChange={chooseColumns}>
          <Stack gap={8}>
            {COLUMN_IDS.map((id) => (
              <Checkbox
                key={id}
                value={id}
                label={t(`messages.columns.${id}`)}
                disabled={id === FIXED_COLUMN}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <Button
          mt="sm"
          fullWidth
          variant="default"
          size="compact-xs"
          onClick={() => chooseColumns(undefined)}
        >
          {t('messages.usualColumns')}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
