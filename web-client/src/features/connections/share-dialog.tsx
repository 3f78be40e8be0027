import { Code, Group, Modal, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { publicProfile, shareAddress } from '../../engine/share.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
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
      title={t('connections.shareTitle', { name: profile.name })}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('connections.shareText')}</Text>
        <TextInput
          label={t('connections.shareAddress')}
          readOnly
          value={address}
          onFocus={(event) => event.currentTarget.select()}
          rightSection={<CopyButton text={address} />}
          data-autofocus
        />
        <Group justify="space-between" gap="xs">
          <Text size="xs" fw={600}>
            {t('connections.shareJson')}
          </Text>
          <CopyButton text={json} />
        </Group>
        <ScrollArea.Autosize
          mah={320}
          viewportProps={{ tabIndex: 0, 'aria-label': t('connections.shareJson') }}
        >
          <Code block>{json}</Code>
        </ScrollArea.Autosize>
      </Stack>
    </Modal>
  );
}
