import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type ReactNode, type UIEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { LoggedFrame } from '../../engine/types.ts';
import { formatBytes, formatCount, formatTime } from '../../ui/format.ts';
import { packetsText } from './frame-list.ts';
import classes from './frame-table.module.css';
import { savingOfFrame, usdOfMessages } from './savings.ts';

const ROW_HEIGHT = 26;
const OVERSCAN = 6;
const COLUMNS = ['number', 'time', 'direction', 'kind', 'packets', 'size', 'billed', 'usd', 'saved'] as const;

interface FrameTableProps {
  /** Newest first. */
  readonly frames: readonly LoggedFrame[];
  readonly selected: number | undefined;
  readonly onSelect: (frame: LoggedFrame | undefined) => void;
  /** The user looks at older frames: they must not move. */
  readonly onScrollAway: () => void;
}

export function FrameTable({ frames, selected, onSelect, onScrollAway }: FrameTableProps) {
  const { t } = useTranslation();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: frames.length,
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
    const current = frames.findIndex(({ number }) => number === selected);
    const next = Math.max(0, Math.min(frames.length - 1, current + step));
    onSelect(frames[next]);
    virtualizer.scrollToIndex(next);
  };
  const items = virtualizer.getVirtualItems();
  const active = items.find(({ index }) => frames[index]?.number === selected);
  return (
    <div
      ref={scroller}
      role="grid"
      className={classes.scroller}
      aria-label={t('frames.table')}
      aria-rowcount={frames.length + 1}
      aria-activedescendant={active && rowId(active.index)}
      tabIndex={0}
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <div role="row" className={classes.head} aria-rowindex={1}>
        {COLUMNS.map((column) => (
          <span role="columnheader" key={column} data-column={column}>
            {t(`frames.columns.${column}`)}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const frame = frames[index];
          return (
            frame !== undefined && (
              <FrameRow
                key={index - (items[0]?.index ?? 0)}
                id={rowId(index)}
                frame={frame}
                rowIndex={index + 2}
                top={start}
                isSelected={frame.number === selected}
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
  return `frame-row-${index}`;
}

interface FrameRowProps {
  readonly id: string;
  readonly frame: LoggedFrame;
  readonly rowIndex: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (frame: LoggedFrame) => void;
}

const FrameRow = memo(function FrameRow({ id, frame, rowIndex, top, isSelected, onSelect }: FrameRowProps) {
  const { t } = useTranslation();
  const { saved } = savingOfFrame(frame);
  const isOut = frame.direction === 'out';
  return (
    <div
      role="row"
      id={id}
      className={classes.row}
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-direction={frame.direction}
      style={{ transform: `translateY(${top}px)` }}
      onPointerDown={() => onSelect(frame)}
    >
      <Cell column="number">{frame.number}</Cell>
      <Cell column="time">{formatTime(frame.atMs)}</Cell>
      <Cell column="direction">
        <span role="img" aria-label={t(`frames.${frame.direction}`)}>
          {isOut ? '→' : '←'}
        </span>
      </Cell>
      <Cell column="kind">{t(`frames.kinds.${frame.kind}`)}</Cell>
      <Cell column="packets">{packetsText(frame.packets) || '–'}</Cell>
      <Cell column="size">{formatBytes(frame.characters)}</Cell>
      <Cell column="billed">{formatCount(frame.billed)}</Cell>
      <Cell column="usd">{usdOfMessages(frame.billed)}</Cell>
      <Cell column="saved">{savedText(saved)}</Cell>
    </div>
  );
});

function savedText(saved: number): string {
  if (saved === 0) return '0';
  return saved > 0 ? `+${formatCount(saved)}` : `−${formatCount(-saved)}`;
}

function Cell({ column, children }: { readonly column: string; readonly children: ReactNode }) {
  return (
    <span role="gridcell" data-column={column}>
      {children}
    </span>
  );
}
