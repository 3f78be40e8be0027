import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, type UIEvent, useRef, useState } from 'react';

const ROW_HEIGHT = 26;
const OVERSCAN = 6;

/** The position of a row in the grid. */
export interface RowPlace {
  readonly id: string;
  readonly rowIndex: number;
  /** In px below the head. */
  readonly top: number;
  readonly isSelected: boolean;
}

interface LogTableProps<Item> {
  /** Newest first. */
  readonly items: readonly Item[];
  readonly label: string;
  /** The names of the columns, and their titles. */
  readonly columns: readonly (readonly [name: string, title: string])[];
  readonly classes: Readonly<Record<string, string>>;
  /** Each door has other columns. */
  readonly door: string;
  readonly isSelected: (item: Item) => boolean;
  readonly onSelect: (item: Item | undefined) => void;
  /** The user looks at older rows: they must not move. */
  readonly onScrollAway: () => void;
  /** The key belongs to the place, and not to the item: rows that scroll by are used again. */
  readonly row: (item: Item, index: number, key: number, place: RowPlace) => ReactNode;
}

/** A long log, of which only the visible rows are rendered; arrow keys move through it. */
export function LogTable<Item>(props: LogTableProps<Item>) {
  const { label, columns, classes, door, isSelected, onSelect, onScrollAway, row } = props;
  const scroller = useRef<HTMLDivElement>(null);
  // While the pointer is over it, the table stands still: a click opens the row that the user sees.
  const [pointedAt, setPointedAt] = useState<readonly Item[]>();
  const items = pointedAt ?? props.items;
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
    const next = Math.max(0, Math.min(items.length - 1, items.findIndex(isSelected) + step));
    onSelect(items[next]);
    virtualizer.scrollToIndex(next);
  };
  const idOf = (index: number): string => `wire-row-${index}`;
  const shown = virtualizer.getVirtualItems().flatMap(({ index, start }) => {
    const item = items[index];
    return item === undefined ? [] : [{ item, index, top: start, isSelected: isSelected(item) }];
  });
  const active = shown.find((each) => each.isSelected);
  return (
    <div
      ref={scroller}
      role="grid"
      className={classes.scroller}
      data-door={door}
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-activedescendant={active && idOf(active.index)}
      tabIndex={0}
      onPointerEnter={() => setPointedAt(props.items)}
      onPointerLeave={() => setPointedAt(undefined)}
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <div role="row" className={classes.head} aria-rowindex={1}>
        {columns.map(([name, title]) => (
          <span role="columnheader" key={name} data-column={name}>
            {title}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ item, index, ...place }, nth) =>
          row(item, index, nth, { id: idOf(index), rowIndex: index + 2, ...place }),
        )}
      </div>
    </div>
  );
}

/** The first cells of every row. */
export function rowProps({ id, rowIndex, top, isSelected }: RowPlace) {
  return {
    role: 'row',
    id,
    'aria-rowindex': rowIndex,
    'aria-selected': isSelected,
    style: { transform: `translateY(${top}px)` },
  } as const;
}
