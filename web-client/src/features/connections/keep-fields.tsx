import { Button, Group, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { KEPT_BYTES_MAX, KEPT_MESSAGES_MAX } from '../../engine/limits.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { forgetKeptMessages } from '../../state/profiles.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';

interface KeepFieldsProps {
  readonly profile: ConnectionProfile;
  readonly onChange: (changes: Partial<ConnectionProfile>) => void;
}

/** Whether messages stay across a reload, and a button that deletes the stored ones. */
export function KeepFields({ profile, onChange }: KeepFieldsProps) {
  const [isForgotten, setForgotten] = useState(false);
  const limits = { messages: formatCount(KEPT_MESSAGES_MAX), bytes: formatBytes(KEPT_BYTES_MAX) };
  return (
    <>
      <Switch
        label={t('connections.editor.keepMessages')}
        description={t('connections.editor.keepMessagesHint', limits)}
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
          {t('connections.editor.forgetKept')}
        </Button>
        <Text size="xs" c="dimmed" role="status">
          {isForgotten ? t('connections.editor.forgotten') : ''}
        </Text>
      </Group>
    </>
  );
}
