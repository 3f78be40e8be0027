import { Button, Center, Checkbox, EmptyState, Group, Text, Title, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconPackages, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile, FrameLog, LiveConnection, LoggedFrame } from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useLogChanges, useStatus } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { BottomDrawer } from '../../ui/bottom-drawer.tsx';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { FrameDetails } from './frame-details.tsx';
import { shownFrames } from './frame-list.ts';
import { FrameSums } from './frame-sums.tsx';
import { FrameTable } from './frame-table.tsx';
import { selectFrame, useFramesStore } from './frames-store.ts';
import classes from './frames-view.module.css';

const ICON = { size: 15, stroke: 1.5 } as const;

/** The text frames of the gateway door: which packets shared one, what each is billed, and what sharing saves. */
export function FramesView() {
  const connection = useActiveConnection();
  const profile = useActiveProfile();
  if (connection === undefined || profile === undefined) return <EmptyConnection />;
  return <Frames key={profile.id} connection={connection} profile={profile} />;
}

interface FramesProps {
  readonly connection: LiveConnection;
  readonly profile: ConnectionProfile;
}

function Frames({ connection, profile }: FramesProps) {
  const { t } = useTranslation();
  const { door, traffic } = useStatus(profile.id);
  const log = connection.frames;
  const hideEmpty = useLayout((layout) => layout.hidesEmptyFrames);
  const [held, setHeld] = useState<readonly LoggedFrame[]>();
  const toggle = useCallback(
    () => setHeld((before) => (before === undefined ? shownFrames(log, hideEmpty) : undefined)),
    [log, hideEmpty],
  );
  if (door === 'node') return <NodeDoor />;
  return (
    <section className={classes.view} aria-label={t('frames.title')}>
      <div className={classes.toolbar}>
        <Title order={2} size="sm">
          {t('frames.title')}
        </Title>
        <Checkbox
          label={t('frames.withoutPackets')}
          checked={!hideEmpty}
          onChange={(event) => {
            setHeld(undefined);
            setLayout({ hidesEmptyFrames: !event.currentTarget.checked });
          }}
        />
        <Group gap={4} ml="auto" wrap="nowrap">
          <Count log={log} hideEmpty={hideEmpty} held={held} />
          <PauseButton isHeld={held !== undefined} toggle={toggle} />
          <IconButton
            label={t('frames.clear')}
            onClick={() => {
              setHeld(undefined);
              log.clear();
            }}
          >
            <IconTrash size={16} stroke={1.5} />
          </IconButton>
        </Group>
      </div>
      {traffic.gateway !== undefined && <FrameSums traffic={traffic.gateway} />}
      <Body log={log} hideEmpty={hideEmpty} held={held} profile={profile} onHold={setHeld} />
    </section>
  );
}

interface Shown {
  readonly log: FrameLog;
  readonly hideEmpty: boolean;
  /** The rows on the screen when the list was paused. */
  readonly held: readonly LoggedFrame[] | undefined;
}

/** Renders once per frame of the screen: only what shows frames uses it. */
function useShown({ log, hideEmpty, held }: Shown): readonly LoggedFrame[] {
  useLogChanges(log);
  return held ?? shownFrames(log, hideEmpty);
}

interface BodyProps extends Shown {
  readonly profile: ConnectionProfile;
  readonly onHold: (frames: readonly LoggedFrame[]) => void;
}

function Body({ profile, onHold, ...shown }: BodyProps) {
  const { t } = useTranslation();
  const frames = useShown(shown);
  const chosen = useFramesStore(({ selected }) => selected);
  const number = chosen?.connectionId === profile.id ? chosen.number : undefined;
  const frame = number === undefined ? undefined : shown.log.withNumber(number);
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const close = (): void => selectFrame(profile.id, undefined);
  const details = frame && (
    <FrameDetails frame={frame} protocolVersion={profile.protocolVersion} close={close} />
  );
  return (
    <div className={classes.body}>
      {frames.length === 0 ? (
        <Nothing isEmpty={shown.log.size === 0} />
      ) : (
        <FrameTable
          frames={frames}
          selected={number}
          onSelect={(one) => selectFrame(profile.id, one?.number)}
          onScrollAway={() => onHold(frames)}
        />
      )}
      {!isNarrow && (
        <aside className={classes.details} aria-label={t('frames.details')}>
          {details ?? (
            <Text size="xs" c="dimmed" p="md">
              {t('frames.pick')}
            </Text>
          )}
        </aside>
      )}
      {isNarrow && details !== undefined && (
        <BottomDrawer label={t('frames.details')} onClose={close}>
          {details}
        </BottomDrawer>
      )}
    </div>
  );
}

function Nothing({ isEmpty }: { readonly isEmpty: boolean }) {
  const { t } = useTranslation();
  return (
    <Center>
      <EmptyState
        size="sm"
        icon={<IconPackages stroke={1.5} />}
        title={t(isEmpty ? 'frames.none' : 'frames.noneShown')}
        description={isEmpty ? t('frames.noneAdvice') : ''}
      />
    </Center>
  );
}

function NodeDoor() {
  const { t } = useTranslation();
  return (
    <Center h="100%" p="md">
      <EmptyState
        size="sm"
        maw={460}
        icon={<IconPackages stroke={1.5} />}
        title={t('frames.nodeDoor')}
        description={t('frames.nodeDoorAdvice')}
      />
    </Center>
  );
}

function Count(shown: Shown) {
  const { t } = useTranslation();
  const { length } = useShown(shown);
  const { framesMax, bytesMax } = shown.log.limits;
  return (
    <Tooltip label={t('frames.limit', { frames: formatCount(framesMax), bytes: formatBytes(bytesMax) })}>
      <Text size="xs" c="dimmed" px={6} className={classes.count}>
        {t('frames.count', { count: length, shown: formatCount(length) })}
      </Text>
    </Tooltip>
  );
}

function PauseButton({ isHeld, toggle }: { readonly isHeld: boolean; readonly toggle: () => void }) {
  const { t } = useTranslation();
  useEffect(() => provideShortcut('pause', toggle), [toggle]);
  return (
    <Button
      variant={isHeld ? 'filled' : 'default'}
      leftSection={isHeld ? <IconPlayerPlay {...ICON} /> : <IconPlayerPause {...ICON} />}
      onClick={toggle}
    >
      {isHeld ? t('frames.resume') : t('frames.pause')}
    </Button>
  );
}
