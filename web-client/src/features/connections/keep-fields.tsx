import { Button, Group, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { KEPT_BYTES_MAX, KEPT_MESSAGES_MAX } from '../../engine/limits.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { forgetKeptMessages } from '../../state/profiles.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';

interface KeepFieldsProps {
  readonly profile: ConnectionProfile;
  readonly onChange: (changes: Partial<ConnectionProfile>) => void;
}

/** Whether messages stay across a reload, and a button that deletes the stored ones. */
export function KeepFields({ profile, onChange }: KeepFieldsProps) {
  const [isForgotten, setForgotten] = useState(false);
  const [messages, bytes] = [formatCount(KEPT_MESSAGES_MAX), formatBytes(KEPT_BYTES_MAX)];
  return (
    <>
      <Switch
        label="Keep messages across a reload"
        description={`The newest ${messages}, up to ${bytes}, stay in this browser, unencrypted. Turned off, they are removed.`}
        checked={profile.keepsMessages ?? true}
        onChange={(event) => onChange({ keepsMessages: event.currentTarget.checked })}
      />
      <Group gap="xs">
        <Button
          variant="default"
          onClick={() => {
            forgetKeptMessages(profile.id);
            setForgotten(true);
          }}
        >
          Forget kept messages
        </Button>
        <Text size="xs" c="dimmed" role="status">
          {isForgotten ? 'Forgotten' : ''}
        </Text>
      </Group>
    </>
  );
}
