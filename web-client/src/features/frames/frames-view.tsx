import { Center, Checkbox, EmptyState, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconPackages } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile, FrameLog, LiveConnection, LoggedFrame } from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useLogChanges, useStatus } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { BottomDrawer } from '../../ui/bottom-drawer.tsx';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { LogCount, LogTools } from '../../ui/log-tools.tsx';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { FrameDetails } from './frame-details.tsx';
import { shownFrames } from './frame-list.ts';
import { FrameSums } from './frame-sums.tsx';
import { FrameTable } from './frame-table.tsx';
import { selectFrame, useFramesStore } from './frames-store.ts';
import classes from './frames-view.module.css';

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
        <LogTools
          count={<Count log={log} hideEmpty={hideEmpty} held={held} />}
          isHeld={held !== undefined}
          toggle={toggle}
          pauseLabel={t(held === undefined ? 'frames.pause' : 'frames.resume')}
          clearLabel={t('frames.clear')}
          clear={() => {
            setHeld(undefined);
            log.clear();
          }}
        />
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

/** Renders once per screen frame: only components that show frames use it. */
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
    <LogCount
      text={t('frames.count', { count: length, shown: formatCount(length) })}
      limit={t('frames.limit', { frames: formatCount(framesMax), bytes: formatBytes(bytesMax) })}
    />
  );
}
