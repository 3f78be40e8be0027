import { useVirtualizer } from '@tanstack/react-virtual';
import type { TFunction } from 'i18next';
import { type KeyboardEvent, memo, type UIEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { inspectPacket } from '../../engine/inspect/inspect-packet.ts';
import type { FrameOfPacket, LoggedPacket } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './packet-table.module.css';

const ROW_HEIGHT = 26;
const OVERSCAN = 6;
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
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: packets.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const scrolled = ({ currentTarget }: UIEvent<HTMLElement>): void => {
    if (currentTarget.scrollTop > ROW_HEIGHT) onScrollAway();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onSelect(undefined);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onScrollAway();
    const current = selected === undefined ? -1 : packets.indexOf(selected);
    const next = Math.max(0, Math.min(packets.length - 1, current + step));
    onSelect(packets[next]);
    virtualizer.scrollToIndex(next);
  };
  const items = virtualizer.getVirtualItems();
  const active = items.find(({ index }) => packets[index] === selected);
  return (
    <div
      ref={scroller}
      role="grid"
      className={classes.scroller}
      data-frames={hasFrames || undefined}
      aria-label={t('packets.table')}
      aria-rowcount={packets.length + 1}
      aria-activedescendant={active && rowId(active.index)}
      tabIndex={0}
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <div role="row" className={classes.head} aria-rowindex={1}>
        {COLUMNS.filter((column) => hasFrames || column !== 'frame').map((column) => (
          <span role="columnheader" key={column} data-column={column}>
            {t(`packets.columns.${column}`)}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const packet = packets[index];
          return (
            packet !== undefined && (
              <PacketRow
                key={index - (items[0]?.index ?? 0)}
                id={rowId(index)}
                packet={packet}
                earlier={packets[index + 1]}
                protocolVersion={protocolVersion}
                rowIndex={index + 2}
                top={start}
                frame={packet.frame}
                hasFrames={hasFrames}
                sharesFrame={selected !== undefined && shareFrame(packet, selected)}
                isSelected={packet === selected}
                onSelect={onSelect}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function rowId(index: number): string {
  return `packet-row-${index}`;
}

function shareFrame(one: LoggedPacket, other: LoggedPacket): boolean {
  return typeof one.frame === 'number' && one.frame === other.frame;
}

interface PacketRowProps {
  readonly id: string;
  readonly packet: LoggedPacket;
  /** Beside the packet, which is told its frame later. */
  readonly frame: FrameOfPacket | undefined;
  readonly hasFrames: boolean;
  /** With the packet that is selected. */
  readonly sharesFrame: boolean;
  readonly earlier: LoggedPacket | undefined;
  readonly protocolVersion: number;
  readonly rowIndex: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (packet: LoggedPacket) => void;
}

const PacketRow = memo(function PacketRow(props: PacketRowProps) {
  const { id, packet, earlier, protocolVersion, rowIndex, top, isSelected, onSelect } = props;
  const { frame, hasFrames, sharesFrame } = props;
  const { t } = useTranslation();
  const { name, summary } = inspectPacket(packet.bytes, protocolVersion);
  const isOut = packet.direction === 'out';
  return (
    <div
      role="row"
      id={id}
      className={classes.row}
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-direction={packet.direction}
      data-shares-frame={sharesFrame || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onPointerDown={() => onSelect(packet)}
    >
      <Cell column="time">{formatTime(packet.atMs)}</Cell>
      <Cell column="since">{earlier === undefined ? '' : since(packet.atMs - earlier.atMs)}</Cell>
      <Cell column="direction">
        <span role="img" aria-label={t(`packets.${packet.direction}`)}>
          {isOut ? '→' : '←'}
        </span>
      </Cell>
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

/** Below zero where a packet came while those before it were still being handled. */
function since(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${formatDuration(Math.abs(ms))}`;
}

function Cell({ column, children }: { readonly column: string; readonly children: React.ReactNode }) {
  return (
    <span role="gridcell" data-column={column}>
      {children}
    </span>
  );
}
