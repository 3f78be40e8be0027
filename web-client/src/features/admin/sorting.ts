/** The value that a column is sorted by; undefined sorts last. */
export type SortKey = string | number | undefined;

/** A column of a table. */
export interface Column<T> {
  readonly label: string;
  /** Absent if sorting by it is meaningless. */
  readonly sortKey?: (entry: T) => SortKey;
}

/** The column by which a table is sorted, and the direction. */
export interface Sorting {
  readonly label: string;
  readonly isDescending: boolean;
}

const order = new Intl.Collator(undefined, { numeric: true });

/** A sorted copy; equal entries keep their order. */
export function sorted<T>(
  entries: readonly T[],
  columns: readonly Column<T>[],
  sorting: Sorting,
): readonly T[] {
  const sortKey = columns.find(({ label }) => label === sorting.label)?.sortKey;
  if (sortKey === undefined) return entries;
  const sign = sorting.isDescending ? -1 : 1;
  return entries.toSorted((a, b) => compare(sortKey(a), sortKey(b), sign));
}

function compare(a: SortKey, b: SortKey, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * order.compare(String(a), String(b));
}

/** Ascending, then descending, then in the broker's order. */
export function nextSorting(label: string, current: Sorting | undefined): Sorting | undefined {
  if (current?.label !== label) return { label, isDescending: false };
  return current.isDescending ? undefined : { label, isDescending: true };
}
