import { Button, DataList, Group, Modal, Stack, Text } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { addProfile, connectProfile, editProfile } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';
import { connectionsWords } from './strings.ts';

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
      title="A connection was shared with you"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <Text size="sm">
          Nothing is connected before you say so. Secrets do not travel in a link: you are asked for them.
        </Text>
        <DataList size="xs" gap={4}>
          <Fact label="Name" value={profile.name} />
          <Fact label="URL" value={profile.url} />
          <Fact label="MQTT version" value={connectionsWords.version[profile.protocolVersion]} />
          <Fact label="Client identifier" value={profile.clientId} />
          <Fact label="User name" value={profile.username} />
          <Fact label="Subscriptions" value={filters} />
        </DataList>
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" onClick={ignore}>
            Ignore it
          </Button>
          <Button variant="default" onClick={() => void add(false)}>
            Add and look at it first
          </Button>
          <Button onClick={() => void add(true)} data-autofocus>
            Add and connect
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
