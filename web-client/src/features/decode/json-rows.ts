import { pathText, type ValuePath } from './json-path.ts';
import { ENTRIES_SHOWN_MAX, ROWS_OPEN_AT_FIRST_MAX } from './limits.ts';
import { type DecodedContainer, type DecodedValue, isContainer } from './value.ts';

/** A line of the viewer. */
export interface JsonRow {
  /** The path as text: open and selected rows stay when the next message comes. */
  readonly id: string;
  readonly path: ValuePath;
  /** The name of the member or the place in the array; '' for the root. */
  readonly name: string;
  readonly value: DecodedValue;
  /** From 1, as ARIA counts. */
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  /** How many entries it has; undefined if it is no container. */
  readonly entries: number | undefined;
  readonly isOpen: boolean;
  /** Entries that the limit hides: a separate row announces them. */
  readonly hidden: number;
}

/** The lines of a value, with its open containers. The root is level 1. */
export function jsonRows(value: DecodedValue, isOpen: (id: string) => boolean): JsonRow[] {
  const rows: JsonRow[] = [];
  addRows(rows, { value, path: [], name: '', level: 1, position: 1, siblings: 1 }, isOpen);
  return rows;
}

type Place = Pick<JsonRow, 'value' | 'path' | 'name' | 'level' | 'position' | 'siblings'>;

function addRows(rows: JsonRow[], place: Place, isOpen: (id: string) => boolean): void {
  const { value, path, level } = place;
  const id = pathText(path);
  const entries = isContainer(value) ? entryCount(value) : undefined;
  const open = entries !== undefined && entries > 0 && isOpen(id);
  const hidden = open ? Math.max(0, entries - ENTRIES_SHOWN_MAX) : 0;
  rows.push({ ...place, id, entries, isOpen: open, hidden });
  if (!open || !isContainer(value)) return;
  const siblings = Math.min(entries, ENTRIES_SHOWN_MAX);
  for (const [index, [name, item]] of firstEntries(value).entries()) {
    const step = Array.isArray(value) ? index : name;
    addRows(
      rows,
      { value: item, path: [...path, step], name, level: level + 1, position: index + 1, siblings },
      isOpen,
    );
  }
}

/** The containers that are open at first: from the root down until there are many rows. */
export function openAtFirst(value: DecodedValue): Set<string> {
  const open = new Set<string>();
  let rows = 1;
  let next: { readonly path: ValuePath; readonly value: DecodedContainer }[] = [];
  if (isContainer(value)) next.push({ path: [], value });
  while (next.length > 0) {
    const level = next;
    next = [];
    for (const { path, value: container } of level) {
      rows += entryCount(container);
      if (rows > ROWS_OPEN_AT_FIRST_MAX && path.length > 0) return open;
      open.add(pathText(path));
      for (const [name, item] of firstEntries(container)) {
        if (!isContainer(item)) continue;
        next.push({ path: [...path, Array.isArray(container) ? Number(name) : name], value: item });
      }
    }
  }
  return open;
}

function entryCount(value: DecodedContainer): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function firstEntries(value: DecodedContainer): (readonly [string, DecodedValue])[] {
  if (Array.isArray(value)) {
    return value
      .slice(0, ENTRIES_SHOWN_MAX)
      .map((item: DecodedValue, index) => [String(index), item] as const);
  }
  const entries = Object.entries(value as Readonly<Record<string, DecodedValue>>);
  return entries.length > ENTRIES_SHOWN_MAX ? entries.slice(0, ENTRIES_SHOWN_MAX) : entries;
}
