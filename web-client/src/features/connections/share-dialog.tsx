import { Code, Group, Modal, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { publicProfile, shareAddress } from '../../engine/share.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { CopyButton } from '../../ui/copy-button.tsx';

interface DialogProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

/** The address with a connection's whole configuration, and a list of its contents. */
export function ShareDialog({ profile, close }: DialogProps) {
  const address = shareAddress(profile, location.href);
  const json = JSON.stringify(publicProfile(profile), undefined, 2);
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={`Share “${profile.name}”`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <Text size="sm">
          The address holds the whole configuration and its subscriptions, behind the #, where no server sees
          it. Password, token and values that look like secrets are left out.
        </Text>
        <TextInput
          label="Address"
          readOnly
          value={address}
          onFocus={(event) => event.currentTarget.select()}
          rightSection={<CopyButton text={address} />}
          data-autofocus
        />
        <Group justify="space-between" gap="xs">
          <Text size="xs" fw={600}>
            As JSON
          </Text>
          <CopyButton text={json} />
        </Group>
        <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': 'As JSON' }}>
          <Code block>{json}</Code>
        </ScrollArea.Autosize>
      </Stack>
    </Modal>
  );
}
