import { useMemo } from 'react';
import { isReading } from '../../engine/stream-reading.ts';
import type { Subscription } from '../../engine/types.ts';
import { setLayout, useLayout } from '../../state/layout.ts';

/** The columns of the message table, in order. To add one: an entry here, its cell, and its name in `strings.ts`. */
export const COLUMN_IDS = [
  'time',
  'topic',
  'payload',
  'qos',
  'flags',
  'size',
  'latency',
  'position',
  'key',
  'packetId',
  'contentType',
  'responseTopic',
  'userProperties',
] as const;

export type ColumnId = (typeof COLUMN_IDS)[number];

interface Column {
  /** The least width. */
  readonly minPx: number;
  /** The share of the remaining width; a column without it has its least width. */
  readonly most?: string;
  /** The same in a narrow table; a column without it is omitted there. */
  readonly narrow?: { readonly minPx: number; readonly most?: string };
  /** Whether it is shown by default. */
  readonly isUsual?: true;
  /** Whether it is shown by default where a subscription reads a stream. */
  readonly isOfStreams?: true;
}

const COLUMNS: Readonly<Record<ColumnId, Column>> = {
  time: { minPx: 112, narrow: { minPx: 100 }, isUsual: true },
  topic: { minPx: 120, most: '22%', narrow: { minPx: 80, most: '28%' }, isUsual: true },
  payload: { minPx: 120, most: '1fr', narrow: { minPx: 60, most: '1fr' }, isUsual: true },
  qos: { minPx: 28, narrow: { minPx: 24 }, isUsual: true },
  flags: { minPx: 64, narrow: { minPx: 60 }, isUsual: true },
  size: { minPx: 66, isUsual: true },
  latency: { minPx: 62, isUsual: true },
  position: { minPx: 74, isOfStreams: true },
  key: { minPx: 70, most: '12%' },
  packetId: { minPx: 60 },
  contentType: { minPx: 90, most: '12%' },
  responseTopic: { minPx: 100, most: '14%' },
  userProperties: { minPx: 110, most: '16%' },
};

/** Between two columns, and at both ends of a row together. */
const GAP_PX = 10;
const PADDING_PX = 21;

/** Up to this width the table shows only the columns that have a narrow form. */
const NARROW_PX = 820;

/** Without this column a row is meaningless. */
export const FIXED_COLUMN: ColumnId = 'topic';

const USUAL = COLUMN_IDS.filter((id) => COLUMNS[id].isUsual === true);
const USUAL_WITH_STREAMS = COLUMN_IDS.filter(
  (id) => COLUMNS[id].isUsual === true || COLUMNS[id].isOfStreams === true,
);

export interface ShownColumns {
  readonly columns: readonly ColumnId[];
  /** For `grid-template-columns`. */
  readonly template: string;
  /** Rows of a narrower table are scrolled sideways. */
  readonly minWidthPx: number;
}

/** The columns of a table of this width. Before it is measured a table counts as wide. */
export function shownColumns(chosen: readonly ColumnId[], widthPx: number): ShownColumns {
  const isNarrow = widthPx > 0 && widthPx <= NARROW_PX;
  const columns = chosen.filter((id) => !isNarrow || COLUMNS[id].narrow !== undefined);
  const sizes = columns.map((id) => (isNarrow && COLUMNS[id].narrow) || COLUMNS[id]);
  const least = sizes.reduce((sum, { minPx }) => sum + minPx, 0);
  return {
    columns,
    template: sizes
      .map(({ minPx, most }) => (most === undefined ? `${minPx}px` : `minmax(${minPx}px, ${most})`))
      .join(' '),
    minWidthPx: least + GAP_PX * (columns.length - 1) + PADDING_PX,
  };
}

/** The stored columns that exist, in the order of the table. */
export function chosenColumns(
  stored: readonly string[] | undefined,
  readsStreams = false,
): readonly ColumnId[] {
  if (stored === undefined) return readsStreams ? USUAL_WITH_STREAMS : USUAL;
  return COLUMN_IDS.filter((id) => id === FIXED_COLUMN || stored.includes(id));
}

/** @param subscriptions those of the connection whose messages are shown */
export function useChosenColumns(subscriptions: readonly Subscription[] = []): readonly ColumnId[] {
  const stored = useLayout((layout) => layout.messageColumns);
  const readsStreams = subscriptions.some(({ filter, userProperties }) => isReading(filter, userProperties));
  return useMemo(() => chosenColumns(stored, readsStreams), [stored, readsStreams]);
}

/** @param columns undefined for the usual ones */
export function chooseColumns(columns: readonly string[] | undefined): void {
  setLayout({ messageColumns: columns });
}
