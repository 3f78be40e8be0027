import { memo, type ReactNode } from 'react';
import { summarizePacket } from '../../engine/inspect/inspect-packet.ts';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { LogTable, type RowPlace, rowProps } from './log-table.tsx';
import { savingOfFrame } from './savings.ts';
import { wireWords } from './strings.ts';
import { packetsText, type WireRow } from './wire-rows.ts';
import classes from './wire-table.module.css';

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

export function WireTable({ rows, protocolVersion, isGateway, selected, ...does }: WireTableProps) {
  const columns = COLUMNS[isGateway ? 'gateway' : 'node'];
  return (
    <LogTable
      items={rows}
      label="What went over the wire, newest first"
      columns={columns.map((column) => [column, wireWords.columns[column]])}
      classes={classes}
      door={isGateway ? 'gateway' : 'node'}
      isSelected={({ key }) => key === selected?.key}
      {...does}
      row={(row, index, key, place) => (
        <Row
          key={key}
          row={row}
          earlier={isGateway ? undefined : rows[index + 1]}
          columns={columns}
          protocolVersion={protocolVersion}
          {...place}
          onSelect={does.onSelect}
        />
      )}
    />
  );
}

interface RowProps extends RowPlace {
  readonly row: WireRow;
  /** Node door only. */
  readonly earlier: WireRow | undefined;
  readonly columns: readonly Column[];
  readonly protocolVersion: number;
  readonly onSelect: (row: WireRow) => void;
}

const Row = memo(function Row({ row, earlier, columns, protocolVersion, onSelect, ...place }: RowProps) {
  const { frame, packet, direction } = row;
  const cells = packet === undefined ? frameCells(row) : packetCells(row, packet, earlier, protocolVersion);
  return (
    <div
      {...rowProps(place)}
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
