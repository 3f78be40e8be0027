import { Center, Checkbox, EmptyState, Group, ScrollArea, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowsExchange, IconX } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  ConnectionProfile,
  FrameLog,
  LiveConnection,
  LoggedPacket,
  PacketLog,
} from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useLogChanges, useStatus } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { BottomDrawer } from '../../ui/bottom-drawer.tsx';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { LogCount, LogTools } from '../../ui/log-tools.tsx';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { FrameLine } from './frame-line.tsx';
import { type PacketFilter, shownPackets } from './packet-list.ts';
import { PacketTable } from './packet-table.tsx';
import classes from './packets-view.module.css';

/** The timeline of a connection, and each of its packets byte by byte. */
export function PacketsView() {
  const connection = useActiveConnection();
  const profile = useActiveProfile();
  if (connection === undefined || profile === undefined) return <EmptyConnection />;
  return <Timeline key={profile.id} connection={connection} profile={profile} />;
}

interface TimelineProps {
  readonly connection: LiveConnection;
  readonly profile: ConnectionProfile;
}

function Timeline({ connection, profile }: TimelineProps) {
  const { t } = useTranslation();
  const log = connection.packets;
  const hidesDelivery = useLayout((layout) => layout.hidesDelivery);
  const hidesPings = useLayout((layout) => layout.hidesPings);
  const filter = useMemo((): PacketFilter => ({ hidesDelivery, hidesPings }), [hidesDelivery, hidesPings]);
  const [held, setHeld] = useState<readonly LoggedPacket[]>();
  const [selected, setSelected] = useState<LoggedPacket>();
  const { door } = useStatus(profile.id);
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const change = (changes: Partial<PacketFilter>): void => {
    setHeld(undefined);
    setLayout(changes);
  };
  const toggle = useCallback(
    () => setHeld((before) => (before === undefined ? shownPackets(log, filter) : undefined)),
    [log, filter],
  );
  const details = selected && (
    <Details
      packet={selected}
      frames={door === 'gateway' ? connection.frames : undefined}
      profile={profile}
      close={() => setSelected(undefined)}
    />
  );
  return (
    <section className={classes.view} aria-label={t('packets.title')}>
      <div className={classes.toolbar}>
        <Title order={2} size="sm">
          {t('packets.title')}
        </Title>
        <Checkbox
          label={t('packets.hidePublish')}
          checked={!filter.hidesDelivery}
          onChange={(event) => change({ hidesDelivery: !event.currentTarget.checked })}
        />
        <Checkbox
          label={t('packets.hidePing')}
          checked={!filter.hidesPings}
          onChange={(event) => change({ hidesPings: !event.currentTarget.checked })}
        />
        <LogTools
          count={<Count log={log} filter={filter} held={held} />}
          isHeld={held !== undefined}
          toggle={toggle}
          pauseLabel={t(held === undefined ? 'packets.pause' : 'packets.resume')}
          clearLabel={t('packets.clear')}
          clear={() => {
            setHeld(undefined);
            log.clear();
          }}
        />
      </div>
      <GatewayNote id={profile.id} />
      <div className={classes.body}>
        <Packets
          log={log}
          filter={filter}
          held={held}
          protocolVersion={profile.protocolVersion}
          hasFrames={door === 'gateway'}
          selected={selected}
          onSelect={setSelected}
          onHold={setHeld}
        />
        {!isNarrow && (
          <aside className={classes.details}>
            {details ?? (
              <Text size="xs" c="dimmed" p="md">
                {t('packets.pick')}
              </Text>
            )}
          </aside>
        )}
        {isNarrow && selected !== undefined && (
          <BottomDrawer label={t('packets.details')} onClose={() => setSelected(undefined)}>
            {details}
          </BottomDrawer>
        )}
      </div>
    </section>
  );
}

/** The packets to show: those held when the user scrolled away, or else the log as it grows. */
interface Shown {
  readonly log: PacketLog;
  readonly filter: PacketFilter;
  readonly held: readonly LoggedPacket[] | undefined;
}

/** Renders once per screen frame: only components that show packets use it. */
function useShown({ log, filter, held }: Shown): readonly LoggedPacket[] {
  useLogChanges(log);
  return held ?? shownPackets(log, filter);
}

interface PacketsProps extends Shown {
  readonly protocolVersion: number;
  readonly hasFrames: boolean;
  readonly selected: LoggedPacket | undefined;
  readonly onSelect: (packet: LoggedPacket | undefined) => void;
  readonly onHold: (packets: readonly LoggedPacket[]) => void;
}

function Packets({ protocolVersion, hasFrames, selected, onSelect, onHold, ...shown }: PacketsProps) {
  const { t } = useTranslation();
  const packets = useShown(shown);
  if (packets.length === 0) {
    return (
      <Center>
        <EmptyState
          size="sm"
          icon={<IconArrowsExchange stroke={1.5} />}
          title={t(shown.log.size === 0 ? 'packets.none' : 'packets.noneShown')}
          description={shown.log.size === 0 ? t('packets.noneAdvice') : ''}
        />
      </Center>
    );
  }
  return (
    <PacketTable
      packets={packets}
      protocolVersion={protocolVersion}
      hasFrames={hasFrames}
      selected={selected}
      onSelect={onSelect}
      onScrollAway={() => onHold(packets)}
    />
  );
}

function Count(shown: Shown) {
  const { t } = useTranslation();
  const { length } = useShown(shown);
  const { packetsMax, bytesMax } = shown.log.limits;
  return (
    <LogCount
      text={t('packets.count', { count: length, shown: formatCount(length) })}
      limit={t('packets.limit', { packets: formatCount(packetsMax), bytes: formatBytes(bytesMax) })}
    />
  );
}

function GatewayNote({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { door } = useStatus(id);
  if (door !== 'gateway') return null;
  return (
    <Text size="xs" c="dimmed" className={classes.note}>
      {t('packets.gatewayNote')}
    </Text>
  );
}

interface DetailsProps {
  readonly packet: LoggedPacket;
  /** Gateway door only. */
  readonly frames: FrameLog | undefined;
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

function Details({ packet, frames, profile, close }: DetailsProps) {
  const { t } = useTranslation();
  return (
    <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: 0 }}>
      <Group justify="space-between" px="xs" pt={4} wrap="nowrap">
        <Text size="xs" c="dimmed">
          {t(`packets.${packet.direction}`)}
        </Text>
        <IconButton label={t('packets.close')} onClick={close}>
          <IconX size={16} stroke={1.5} />
        </IconButton>
      </Group>
      {frames !== undefined && <FrameLine packet={packet} frames={frames} profileId={profile.id} />}
      <PacketInspector bytes={packet.bytes} protocolVersion={profile.protocolVersion} />
    </ScrollArea>
  );
}
