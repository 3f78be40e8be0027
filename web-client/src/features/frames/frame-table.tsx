import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { LoggedFrame } from '../../engine/types.ts';
import { formatBytes, formatCount, formatTime } from '../../ui/format.ts';
import { Cell, DirectionCell, LogTable, type RowPlace, rowProps } from '../../ui/log-table.tsx';
import { packetsText } from './frame-list.ts';
import classes from './frame-table.module.css';
import { savingOfFrame, usdOfMessages } from './savings.ts';

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
  return (
    <LogTable
      items={frames}
      label={t('frames.table')}
      columns={COLUMNS.map((column) => [column, t(`frames.columns.${column}`)])}
      prefix="frame"
      classes={classes}
      isSelected={({ number }) => number === selected}
      onSelect={onSelect}
      onScrollAway={onScrollAway}
      row={(frame, _, key, place) => <FrameRow key={key} frame={frame} {...place} onSelect={onSelect} />}
    />
  );
}

interface FrameRowProps extends RowPlace {
  readonly frame: LoggedFrame;
  readonly onSelect: (frame: LoggedFrame) => void;
}

const FrameRow = memo(function FrameRow({ frame, onSelect, ...place }: FrameRowProps) {
  const { t } = useTranslation();
  const { saved } = savingOfFrame(frame);
  return (
    <div
      {...rowProps(place)}
      className={classes.row}
      data-direction={frame.direction}
      onPointerDown={() => onSelect(frame)}
    >
      <Cell column="number">{frame.number}</Cell>
      <Cell column="time">{formatTime(frame.atMs)}</Cell>
      <DirectionCell direction={frame.direction} label={t(`frames.${frame.direction}`)} />
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
