import { Button, Group, Menu } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconCut,
  IconDots,
  IconGrave,
  IconPlayerStop,
  IconPlugConnected,
  IconPlugConnectedX,
  IconSettings,
  IconTrash,
} from '@tabler/icons-react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { connections } from '../../state/connections.ts';
import { useStatus } from '../../state/hooks.ts';
import { connectProfile, disconnectProfile, duplicateProfile, editProfile } from '../../state/profiles.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { closeRecording } from '../../state/recordings.ts';
import { useStore } from '../../state/store.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import classes from './connection-controls.module.css';

const ICON = { size: 16, stroke: 1.5 } as const;

/** Connect, disconnect, and the other actions on a connection. */
export function ConnectionControls({ profile }: { readonly profile: ConnectionProfile }) {
  const { id } = profile;
  const { phase } = useStatus(id);
  if (isRecording(id)) return <CloseRecording id={id} />;
  const isOpen = phase !== 'idle' && phase !== 'failed';
  const isConnected = phase === 'connected';
  const label = isConnected ? 'Disconnect' : isOpen ? 'Stop trying' : 'Connect';
  const ToggleIcon = isConnected ? IconPlugConnectedX : isOpen ? IconPlayerStop : IconPlugConnected;
  return (
    <Group gap={2} wrap="nowrap">
      <Button
        variant={isOpen ? 'default' : 'filled'}
        size="compact-xs"
        className={classes.toggle}
        leftSection={<ToggleIcon {...ICON} />}
        disabled={profile.url === ''}
        aria-label={label}
        onClick={() => (isOpen ? disconnectProfile(id) : connectProfile(id))}
      >
        {label}
      </Button>
      <ConnectionMenu profile={profile} isConnected={isConnected} />
    </Group>
  );
}

/** A file of messages has no server. */
function CloseRecording({ id }: { readonly id: string }) {
  return (
    <Button variant="default" size="compact-xs" onClick={() => closeRecording(id)}>
      Close the recording
    </Button>
  );
}

function ConnectionMenu({
  profile,
  isConnected,
}: {
  readonly profile: ConnectionProfile;
  readonly isConnected: boolean;
}) {
  const { id, name } = profile;
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <IconButton label="More for this connection">
          <IconDots {...ICON} />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconSettings {...ICON} />} onClick={() => editProfile(id)}>
          Edit …
        </Menu.Item>
        <Menu.Item
          leftSection={<IconCopy {...ICON} />}
          onClick={() => void duplicateProfile(id, `Copy of ${name}`)}
        >
          Duplicate
        </Menu.Item>
        <Menu.Item
          leftSection={<IconArrowDown {...ICON} />}
          onClick={() => useStore.setState({ question: { type: 'import' } })}
        >
          Import …
        </Menu.Item>
        <Menu.Item
          leftSection={<IconArrowUp {...ICON} />}
          onClick={() => useStore.setState({ question: { type: 'export' } })}
        >
          Export …
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconGrave {...ICON} />}
          disabled={!isConnected || profile.will === undefined}
          onClick={() => disconnectProfile(id, true)}
        >
          Disconnect, and have the will published
        </Menu.Item>
        <Menu.Item
          leftSection={<IconCut {...ICON} />}
          disabled={!isConnected}
          onClick={() => connections.get(id).cut()}
        >
          Cut without DISCONNECT
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          c="var(--mantine-color-error)"
          leftSection={<IconTrash {...ICON} />}
          onClick={() => useStore.setState({ question: { type: 'delete', id } })}
        >
          Delete …
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
