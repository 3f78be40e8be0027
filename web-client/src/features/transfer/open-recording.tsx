import { Button, Group, Text } from '@mantine/core';
import { IconFileText } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { openRecording } from '../../state/recordings.ts';
import { openView } from '../../state/routes.ts';
import type { FiledMessage } from './message-record.ts';
import { useTransfer } from './transfer-store.ts';

/** Shows the messages of the file in the views, as if a connection had received them. */
export function OpenRecording({ messages }: { readonly messages: readonly FiledMessage[] }) {
  const { t } = useTranslation();
  const name = useTransfer(({ file }) => file?.name ?? '');
  const open = (): void => {
    openRecording(name, messages);
    openView('messages');
  };
  return (
    <Group gap="xs" mt="xs">
      <Button leftSection={<IconFileText size={14} stroke={1.5} />} onClick={open}>
        {t('transfer.open')}
      </Button>
      <Text size="xs" c="dimmed" flex={1} miw={180}>
        {t('transfer.openHint')}
      </Text>
    </Group>
  );
}
