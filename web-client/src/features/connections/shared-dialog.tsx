import { Button, DataList, Group, Modal, Stack, Text } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { addProfile, connectProfile, editProfile } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';

interface DialogProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

/** Asks what to do with a connection in the page's address. */
export function SharedDialog({ profile, close }: DialogProps) {
  const ignore = (): void => {
    // Otherwise the page would ask again after a reload.
    openView('start');
    close();
  };
  const add = async (isConnecting: boolean): Promise<void> => {
    close();
    await addProfile(profile);
    openView('messages');
    if (isConnecting) connectProfile(profile.id);
    else editProfile(profile.id);
  };
  const filters = profile.subscriptions.map(({ filter }) => filter).join(', ');
  return (
    <Modal
      opened
      onClose={ignore}
      title={t('connections.sharedTitle')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('connections.sharedText')}</Text>
        <DataList size="xs" gap={4}>
          <Fact label={t('connections.editor.name')} value={profile.name} />
          <Fact label={t('connections.editor.url')} value={profile.url} />
          <Fact
            label={t('connections.editor.version')}
            value={t(`connections.version.v${profile.protocolVersion}`)}
          />
          <Fact label={t('connections.editor.clientId')} value={profile.clientId} />
          <Fact label={t('connections.editor.username')} value={profile.username} />
          <Fact label={t('subscriptions.title')} value={filters} />
        </DataList>
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" onClick={ignore}>
            {t('connections.sharedIgnore')}
          </Button>
          <Button variant="default" onClick={() => void add(false)}>
            {t('connections.sharedEdit')}
          </Button>
          <Button onClick={() => void add(true)} data-autofocus>
            {t('connections.sharedAdd')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  if (value === '') return null;
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{value}</DataList.ItemValue>
    </DataList.Item>
  );
}
