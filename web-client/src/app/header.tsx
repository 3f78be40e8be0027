import { Badge, Burger, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconCommand, IconKeyboard } from '@tabler/icons-react';
import { ConnectionControls } from '../features/connections/connection-controls.tsx';
import { connectionsWords } from '../features/connections/strings.ts';
import { useActiveProfile, useStatus } from '../state/hooks.ts';
import { isRecording } from '../state/recording-ids.ts';
import { useStore } from '../state/store.ts';
import { formatRate } from '../ui/format.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { StateDot } from '../ui/state-dot.tsx';
import classes from './header.module.css';
import { Logo } from './logo.tsx';
import { ThemeMenu } from './theme-menu.tsx';

interface HeaderProps {
  readonly isNavigationOpen: boolean;
  readonly toggleNavigation: () => void;
}

/** The shown connection, its state, and its actions. */
export function Header({ isNavigationOpen, toggleNavigation }: HeaderProps) {
  return (
    <Group h="100%" px="sm" gap="xs" wrap="nowrap">
      <Burger
        opened={isNavigationOpen}
        onClick={toggleNavigation}
        hiddenFrom="sm"
        size="xs"
        aria-label={isNavigationOpen ? 'Close the navigation' : 'Open the navigation'}
      />
      <a className={classes.home} href="#/start" aria-label="Apus">
        <Logo />
        <span className={classes.wordmark}>Apus</span>
      </a>
      <ActiveConnection />
      <Group gap={2} wrap="nowrap" ml="auto">
        <Rates />
        <IconButton
          label="Commands (Ctrl K)"
          visibleFrom="sm"
          onClick={() => useStore.setState({ question: { type: 'palette' } })}
        >
          <IconCommand size={18} stroke={1.5} />
        </IconButton>
        <IconButton
          label="Keyboard shortcuts"
          visibleFrom="sm"
          onClick={() => useStore.setState({ question: { type: 'shortcuts' } })}
        >
          <IconKeyboard size={18} stroke={1.5} />
        </IconButton>
        <ThemeMenu />
      </Group>
    </Group>
  );
}

function ActiveConnection() {
  const profile = useActiveProfile();
  const { phase, door } = useStatus(profile?.id);
  if (profile === undefined) return null;
  return (
    <Group gap="xs" wrap="nowrap" className={classes.connection}>
      <StateDot phase={phase} />
      <Text fw={600} size="sm" truncate>
        {profile.name === '' ? 'Unnamed' : profile.name}
      </Text>
      <Text size="xs" c="dimmed" truncate visibleFrom="md" ff="monospace">
        {profile.url}
      </Text>
      {door !== undefined && (
        <Badge variant="default" visibleFrom="lg">
          {connectionsWords.door[door]}
        </Badge>
      )}
      <Badge variant="default" visibleFrom="lg">
        {isRecording(profile.id) ? 'Recording' : connectionsWords.version[profile.protocolVersion]}
      </Badge>
      <ConnectionControls profile={profile} />
    </Group>
  );
}

function Rates() {
  const id = useStore((state) => state.activeId);
  const { traffic, phase } = useStatus(id);
  if (phase !== 'connected') return null;
  return (
    <Tooltip label="Messages a second, received and sent">
      <Group gap={6} wrap="nowrap" visibleFrom="sm" className={classes.rates} data-testid="rates">
        <IconArrowDown size={14} stroke={2} aria-hidden />
        <VisuallyHidden>{'Received: '}</VisuallyHidden>
        <span>{`${formatRate(traffic.messagesInPerSecond)}/s`}</span>
        <IconArrowUp size={14} stroke={2} aria-hidden />
        <VisuallyHidden>{' Published: '}</VisuallyHidden>
        <span>{`${formatRate(traffic.messagesOutPerSecond)}/s`}</span>
      </Group>
    </Tooltip>
  );
}
