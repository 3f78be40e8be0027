import { Group, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useConnection, useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { StateDot } from '../../ui/state-dot.tsx';
import { ConnectionControls } from '../connections/connection-controls.tsx';
import { toggleBeside } from './beside.ts';
import { MessageList } from './message-list.ts';
import { MessagesPane } from './messages-pane.tsx';
import classes from './messages-view.module.css';

interface ConnectionMessagesProps {
  readonly profile: ConnectionProfile;
  /** The connections whose messages are shown: this one, and those beside it. */
  readonly shown: readonly string[];
}

/** The messages of one connection. Beside others it has a heading, and becomes active when the user uses it. */
export function ConnectionMessages({ profile, shown }: ConnectionMessagesProps) {
  const { id } = profile;
  const { messages } = useConnection(id);
  const list = useMemo(() => new MessageList(messages), [messages]);
  const isActive = useStore((state) => state.activeId === id);
  useEffect(() => list.attach(), [list]);
  const isAmongOthers = shown.length > 1;
  const activate = (): void => {
    if (!isActive) useStore.setState({ activeId: id });
  };
  return (
    <div
      className={classes.one}
      data-beside={isAmongOthers || undefined}
      data-active={isActive || undefined}
      onPointerDownCapture={activate}
      onFocusCapture={activate}
    >
      {isAmongOthers && <Heading profile={profile} shown={shown} />}
      <MessagesPane profile={profile} list={list} isAmongOthers={isAmongOthers} />
    </div>
  );
}

function Heading({ profile, shown }: ConnectionMessagesProps) {
  const { t } = useTranslation();
  const { id, name } = profile;
  const { phase } = useStatus(id);
  return (
    <Group gap={6} wrap="nowrap" className={classes.oneHead}>
      <StateDot phase={phase} />
      <Text component="h2" size="xs" fw={650} truncate flex={1} miw={0}>
        {name === '' ? t('connections.unnamed') : name}
      </Text>
      <ConnectionControls profile={profile} />
      <IconButton label={t('messages.notBeside', { name })} onClick={() => toggleBeside(shown, id)}>
        <IconX size={15} stroke={1.5} />
      </IconButton>
    </Group>
  );
}
