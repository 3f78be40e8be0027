import { Badge, Burger, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconCommand, IconKeyboard } from '@tabler/icons-react';
import { ConnectionControls } from '../features/connections/connection-controls.tsx';
import { t } from '../i18n/index.ts';
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
        aria-label={isNavigationOpen ? t('app.closeNavigation') : t('app.openNavigation')}
      />
      <a className={classes.home} href="#/start" aria-label={t('app.name')}>
        <Logo />
        <span className={classes.wordmark}>{t('app.name')}</span>
      </a>
      <ActiveConnection />
      <Group gap={2} wrap="nowrap" ml="auto">
        <Rates />
        <IconButton
          label={t('app.palette.open')}
          visibleFrom="sm"
          onClick={() => useStore.setState({ question: { type: 'palette' } })}
        >
          <IconCommand size={18} stroke={1.5} />
        </IconButton>
        <IconButton
          label={t('app.shortcuts.label')}
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
        {profile.name === '' ? t('connections.unnamed') : profile.name}
      </Text>
      <Text size="xs" c="dimmed" truncate visibleFrom="md" ff="monospace">
        {profile.url}
      </Text>
      {door !== undefined && (
        <Badge variant="default" visibleFrom="lg">
          {t(`connections.door.${door}`)}
        </Badge>
      )}
      <Badge variant="default" visibleFrom="lg">
        {isRecording(profile.id)
          ? t('connections.recording')
          : t(`connections.version.v${profile.protocolVersion}`)}
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
    <Tooltip label={t('app.rates')}>
      <Group gap={6} wrap="nowrap" visibleFrom="sm" className={classes.rates} data-testid="rates">
        <IconArrowDown size={14} stroke={2} aria-hidden />
        <VisuallyHidden>{t('app.receiving')}</VisuallyHidden>
        <span>{t('app.perSecond', { rate: formatRate(traffic.messagesInPerSecond) })}</span>
        <IconArrowUp size={14} stroke={2} aria-hidden />
        <VisuallyHidden>{t('app.sending')}</VisuallyHidden>
        <span>{t('app.perSecond', { rate: formatRate(traffic.messagesOutPerSecond) })}</span>
      </Group>
    </Tooltip>
  );
}
