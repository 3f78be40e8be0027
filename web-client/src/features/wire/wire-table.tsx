import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type ReactNode, type UIEvent, useRef, useState } from 'react';
import { summarizePacket } from '../../engine/inspect/inspect-packet.ts';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { savingOfFrame } from './savings.ts';
import { wireWords } from './strings.ts';
import { packetsText, type WireRow } from './wire-rows.ts';
import classes from './wire-table.module.css';

const ROW_HEIGHT = 26;
const OVERSCAN = 6;

const COLUMNS = {
  node: ['time', 'since', 'direction', 'type', 'summary', 'size'],
  gateway: ['number', 'time', 'direction', 'kind', 'summary', 'size', 'billed', 'saved'],
} as const;

type Column = (typeof COLUMNS)['node' | 'gateway'][number];

interface WireTableProps {
  /** Newest first. */
  readonly rows: readonly WireRow[];
  readonly protocolVersion: number;
  readonly isGateway: boolean;
  readonly selected: WireRow | undefined;
  readonly onSelect: (row: WireRow | undefined) => void;
  /** The user looks at older rows: they must not move. */
  readonly onScrollAway: () => void;
}

/** A long log, of which only the visible rows are rendered; arrow keys move through it. */
export function WireTable(props: WireTableProps) {
  const { rows, protocolVersion, isGateway, selected, onSelect, onScrollAway } = props;
  const columns = COLUMNS[isGateway ? 'gateway' : 'node'];
  const scroller = useRef<HTMLDivElement>(null);
  // While the pointer is over it, the table stands still: a click opens the row that the user sees.
  const [pointedAt, setPointedAt] = useState<readonly WireRow[]>();
  const items = pointedAt ?? rows;
  const virtualizer = useVirtualizer({
    count: items.length,
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
    const next = Math.max(
      0,
      Math.min(items.length - 1, items.findIndex(({ key }) => key === selected?.key) + step),
    );
    onSelect(items[next]);
    virtualizer.scrollToIndex(next);
  };
  const idOf = (index: number): string => `wire-row-${index}`;
  const shown = virtualizer.getVirtualItems().flatMap(({ index, start }) => {
    const item = items[index];
    return item === undefined ? [] : [{ item, index, top: start, isSelected: item.key === selected?.key }];
  });
  const active = shown.find((each) => each.isSelected);
  return (
    <div
      ref={scroller}
      role="grid"
      className={classes.scroller}
      data-door={isGateway ? 'gateway' : 'node'}
      aria-label="What went over the wire, newest first"
      aria-rowcount={items.length + 1}
      aria-activedescendant={active && idOf(active.index)}
      tabIndex={0}
      onPointerEnter={() => setPointedAt(rows)}
      onPointerLeave={() => setPointedAt(undefined)}
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <div role="row" className={classes.head} aria-rowindex={1}>
        {columns.map((column) => (
          <span role="columnheader" key={column} data-column={column}>
            {wireWords.columns[column]}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {/* The key belongs to the place, and not to the row: rows that scroll by are used again. */}
        {shown.map(({ item, index, ...place }, nth) => (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            key={nth}
            id={idOf(index)}
            rowIndex={index + 2}
            {...place}
            row={item}
            earlier={isGateway ? undefined : items[index + 1]}
            columns={columns}
            protocolVersion={protocolVersion}
            onSelect={onSelect}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly rowIndex: number;
  /** In px below the head. */
  readonly top: number;
  readonly isSelected: boolean;
  readonly row: WireRow;
  /** Node door only. */
  readonly earlier: WireRow | undefined;
  readonly columns: readonly Column[];
  readonly protocolVersion: number;
  readonly onSelect: (row: WireRow) => void;
}

const Row = memo(function Row(props: RowProps) {
  const { id, rowIndex, top, isSelected, row, earlier, columns, protocolVersion, onSelect } = props;
  const { frame, packet, direction } = row;
  const cells = packet === undefined ? frameCells(row) : packetCells(row, packet, earlier, protocolVersion);
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      className={classes.row}
      data-direction={direction}
      data-is={packet === undefined ? 'frame' : frame === undefined ? 'packet' : 'part'}
      onPointerDown={() => onSelect(row)}
    >
      {columns.map((column) => (
        <span role="gridcell" data-column={column} key={column}>
          {column === 'direction' ? (
            <span role="img" aria-label={direction === 'out' ? 'client to server' : 'server to client'}>
              {direction === 'out' ? '→' : '←'}
            </span>
          ) : (
            cells[column]
          )}
        </span>
      ))}
    </div>
  );
});

type Cells = Readonly<Partial<Record<Column, ReactNode>>>;

function frameCells({ atMs, frame }: WireRow): Cells {
  if (frame === undefined) return {};
  const { number, kind, packets, characters, billed } = frame;
  const { saved } = savingOfFrame(frame);
  return {
    number: `#${number}`,
    time: formatTime(atMs),
    kind: wireWords.kinds[kind],
    summary: packetsText(packets),
    size: formatBytes(characters),
    billed: formatCount(billed),
    saved: saved === 0 ? '0' : `${saved > 0 ? '+' : '−'}${formatCount(Math.abs(saved))}`,
  };
}

function packetCells(
  { atMs, frame, frameOf }: WireRow,
  packet: Uint8Array,
  earlier: WireRow | undefined,
  version: number,
): Cells {
  const { name, summary } = summarizePacket(packet, version);
  return {
    // The row of its frame has the number and the time.
    ...(frame === undefined && {
      number: typeof frameOf === 'number' ? `#${frameOf}` : wireWords.aloneShort[frameOf ?? 'waits'],
      time: formatTime(atMs),
    }),
    since: earlier === undefined ? '' : `+${formatDuration(atMs - earlier.atMs)}`,
    type: name,
    kind: name,
    summary: visibleText(summary),
    size: formatBytes(packet.length),
  };
}
