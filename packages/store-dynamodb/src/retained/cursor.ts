/** Where a page of retained messages begins. */
export interface Cursor {
  /** Sort key, exclusive; undefined: at the beginning. */
  readonly after: string | undefined;
  /** How many items its first Query should read. @default not known */
  readonly items?: number;
}

/** No topic name contains it, so no sort key begins with it. */
const MARK = '#';

const SYNTAX = /^#(\d+)#(.*)$/s;

export function cursorText(after: string, items: number): string {
  return MARK + items + MARK + after;
}

/** One of an earlier version is the sort key. */
export function parseCursor(from: string | undefined): Cursor {
  const [, items, after] = SYNTAX.exec(from ?? '') ?? [];
  return after === undefined ? { after: from } : { after, items: Number(items) };
}
