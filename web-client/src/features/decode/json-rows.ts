import { pathText, type ValuePath } from './json-path.ts';
import { ENTRIES_SHOWN_MAX, ROWS_OPEN_AT_FIRST_MAX } from './limits.ts';
import { type DecodedContainer, type DecodedValue, isContainer } from './value.ts';

/** A line of the viewer. */
export interface JsonRow {
  /** The path as text, shortened where its names are long: open and selected rows stay when the next message comes. */
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
  addRows(rows, { id: ROOT, value, path: [], name: '', level: 1, position: 1, siblings: 1 }, isOpen);
  return rows;
}

/** Longer names stand in an id by their place: an id is made for each row. */
const NAME_IN_ID_MAX = 100;

const ROOT = pathText([]);

function idBelow(parent: string, step: string | number, index: number): string {
  if (typeof step === 'string' && step.length > NAME_IN_ID_MAX) return `${parent}[#${index}]`;
  return parent + pathText([step]).slice(ROOT.length);
}

type Place = Pick<JsonRow, 'id' | 'value' | 'path' | 'name' | 'level' | 'position' | 'siblings'>;

function addRows(rows: JsonRow[], place: Place, isOpen: (id: string) => boolean): void {
  const { id, value, path, level } = place;
  const entries = isContainer(value) ? entryCount(value) : undefined;
  const open = entries !== undefined && entries > 0 && isOpen(id);
  const hidden = open ? Math.max(0, entries - ENTRIES_SHOWN_MAX) : 0;
  rows.push({ ...place, entries, isOpen: open, hidden });
  if (!open || !isContainer(value)) return;
  const siblings = Math.min(entries, ENTRIES_SHOWN_MAX);
  for (const [index, [name, item]] of firstEntries(value).entries()) {
    const step = Array.isArray(value) ? index : name;
    addRows(
      rows,
      {
        id: idBelow(id, step, index),
        value: item,
        path: [...path, step],
        name,
        level: level + 1,
        position: index + 1,
        siblings,
      },
      isOpen,
    );
  }
}

/** The containers that are open at first: from the root down until there are many rows. */
export function openAtFirst(value: DecodedValue): Set<string> {
  const open = new Set<string>();
  let rows = 1;
  let next: { readonly id: string; readonly value: DecodedContainer }[] = [];
  if (isContainer(value)) next.push({ id: ROOT, value });
  while (next.length > 0) {
    const level = next;
    next = [];
    for (const { id, value: container } of level) {
      rows += entryCount(container);
      if (rows > ROWS_OPEN_AT_FIRST_MAX && id !== ROOT) return open;
      open.add(id);
      for (const [index, [name, item]] of firstEntries(container).entries()) {
        if (!isContainer(item)) continue;
        next.push({ id: idBelow(id, Array.isArray(container) ? index : name, index), value: item });
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
