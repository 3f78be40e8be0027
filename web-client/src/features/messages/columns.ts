import { useMemo } from 'react';
import { isReading } from '../../engine/stream-reading.ts';
import type { Subscription } from '../../engine/types.ts';

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
] as const;

export type ColumnId = (typeof COLUMN_IDS)[number];

interface Column {
  /** The least width. */
  readonly minPx: number;
  /** The share of the remaining width; a column without it has its least width. */
  readonly most?: string;
  /** The same in a narrow table; a column without it is omitted there. */
  readonly narrow?: { readonly minPx: number; readonly most?: string };
}

const COLUMNS: Readonly<Record<ColumnId, Column>> = {
  time: { minPx: 112, narrow: { minPx: 100 } },
  topic: { minPx: 120, most: '22%', narrow: { minPx: 80, most: '28%' } },
  payload: { minPx: 120, most: '1fr', narrow: { minPx: 60, most: '1fr' } },
  qos: { minPx: 28, narrow: { minPx: 24 } },
  flags: { minPx: 64, narrow: { minPx: 60 } },
  size: { minPx: 66 },
  latency: { minPx: 62 },
  position: { minPx: 74 },
};

/** Between two columns, and at both ends of a row together. */
const GAP_PX = 10;
const PADDING_PX = 21;

/** Up to this width the table shows only the columns that have a narrow form. */
const NARROW_PX = 820;

/** Without the position, which messages of streams have alone. */
const USUAL = COLUMN_IDS.filter((id) => id !== 'position');

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

/** @param subscriptions those of the connection whose messages are shown */
export function useColumns(subscriptions: readonly Subscription[]): readonly ColumnId[] {
  return useMemo(
    () =>
      subscriptions.some(({ filter, userProperties }) => isReading(filter, userProperties))
        ? COLUMN_IDS
        : USUAL,
    [subscriptions],
  );
}
