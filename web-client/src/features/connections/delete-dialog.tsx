import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
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
    <Modal opened onClose={close} title="Delete this connection?">
      <Stack>
        <Text size="sm">{`“${profile.name}” with its subscriptions and stored secrets is removed from this browser.`}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            Keep it
          </Button>
          <Button color="red.9" onClick={remove}>
            Delete …
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
