/** Where a page of retained messages begins. */
export interface Cursor {
  /** Sort key, exclusive. */
  readonly after: string;
  /** How many items its first Query should read. */
  readonly items: number;
}

/** No topic name contains it, so no sort key begins with it. */
const MARK = '#';

const SYNTAX = /^#(\d+)#(.*)$/s;

export function cursorText(after: string, items: number): string {
  return MARK + items + MARK + after;
}

/** Undefined for the first page, which begins at the beginning. */
export function parseCursor(from: string | undefined): Cursor | undefined {
  const [, items, after] = SYNTAX.exec(from ?? '') ?? [];
  return after === undefined ? undefined : { after, items: Number(items) };
}
