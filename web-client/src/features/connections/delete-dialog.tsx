import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { deleteProfile } from '../../state/profiles.ts';
import { dropEdit } from './edits-store.ts';

interface DialogProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

export function DeleteDialog({ profile, close }: DialogProps) {
  const remove = (): void => {
    void deleteProfile(profile.id);
    dropEdit(profile.id);
    close();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t('connections.deleteTitle')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack>
        <Text size="sm">{t('connections.deleteText', { name: profile.name })}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            {t('connections.keep')}
          </Button>
          <Button color="red.9" onClick={remove}>
            {t('connections.delete')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
