import type { TFunction } from 'i18next';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { inspectPacket } from '../../engine/inspect/inspect-packet.ts';
import type { FrameOfPacket, LoggedPacket } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime } from '../../ui/format.ts';
import { Cell, DirectionCell, LogTable, type RowPlace, rowProps } from '../../ui/log-table.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './packet-table.module.css';

const COLUMNS = ['time', 'since', 'direction', 'frame', 'type', 'summary', 'size'] as const;

interface PacketTableProps {
  /** Newest first. */
  readonly packets: readonly LoggedPacket[];
  readonly protocolVersion: number;
  /** The gateway door has text frames. */
  readonly hasFrames: boolean;
  readonly selected: LoggedPacket | undefined;
  readonly onSelect: (packet: LoggedPacket | undefined) => void;
  /** The user looks at older packets: they must not move. */
  readonly onScrollAway: () => void;
}

export function PacketTable(props: PacketTableProps) {
  const { packets, protocolVersion, hasFrames, selected, onSelect, onScrollAway } = props;
  const { t } = useTranslation();
  const columns = COLUMNS.filter((column) => hasFrames || column !== 'frame');
  return (
    <LogTable
      items={packets}
      label={t('packets.table')}
      columns={columns.map((column) => [column, t(`packets.columns.${column}`)])}
      prefix="packet"
      classes={classes}
      hasFrames={hasFrames}
      isSelected={(packet) => packet === selected}
      onSelect={onSelect}
      onScrollAway={onScrollAway}
      row={(packet, index, key, place) => (
        <PacketRow
          key={key}
          packet={packet}
          earlier={packets[index + 1]}
          protocolVersion={protocolVersion}
          frame={packet.frame}
          hasFrames={hasFrames}
          sharesFrame={selected !== undefined && shareFrame(packet, selected)}
          {...place}
          onSelect={onSelect}
        />
      )}
    />
  );
}

function shareFrame(one: LoggedPacket, other: LoggedPacket): boolean {
  return typeof one.frame === 'number' && one.frame === other.frame;
}

interface PacketRowProps extends RowPlace {
  readonly packet: LoggedPacket;
  /** Separate from the packet, whose frame is set later. */
  readonly frame: FrameOfPacket | undefined;
  readonly hasFrames: boolean;
  /** With the packet that is selected. */
  readonly sharesFrame: boolean;
  readonly earlier: LoggedPacket | undefined;
  readonly protocolVersion: number;
  readonly onSelect: (packet: LoggedPacket) => void;
}

const PacketRow = memo(function PacketRow(props: PacketRowProps) {
  const { packet, earlier, protocolVersion, frame, hasFrames, sharesFrame, onSelect, ...place } = props;
  const { t } = useTranslation();
  const { name, summary } = inspectPacket(packet.bytes, protocolVersion);
  return (
    <div
      {...rowProps(place)}
      className={classes.row}
      data-direction={packet.direction}
      data-shares-frame={sharesFrame || undefined}
      onPointerDown={() => onSelect(packet)}
    >
      <Cell column="time">{formatTime(packet.atMs)}</Cell>
      <Cell column="since">{earlier === undefined ? '' : since(packet.atMs - earlier.atMs)}</Cell>
      <DirectionCell direction={packet.direction} label={t(`packets.${packet.direction}`)} />
      {hasFrames && <Cell column="frame">{frameText(frame, t)}</Cell>}
      <Cell column="type">{name}</Cell>
      <Cell column="summary">{visibleText(summary)}</Cell>
      <Cell column="size">{formatBytes(packet.length)}</Cell>
    </div>
  );
});

function frameText(frame: FrameOfPacket | undefined, t: TFunction): string {
  if (typeof frame === 'number') return `#${frame}`;
  return t(`packets.frame.${frame ?? 'waits'}`);
}

/** Negative if a packet came while earlier ones were still being handled. */
function since(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${formatDuration(Math.abs(ms))}`;
}
