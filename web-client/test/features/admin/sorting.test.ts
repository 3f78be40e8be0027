import { expect, test } from 'vitest';
import { type Column, nextSorting, sorted } from '../../../src/features/admin/sorting.ts';

interface Entry {
  readonly name: string;
  readonly count?: number;
}

const COLUMNS: readonly Column<Entry>[] = [
  { label: 'Name', sortKey: ({ name }) => name },
  { label: 'Count', sortKey: ({ count }) => count },
  { label: 'Action' },
];

const ENTRIES: readonly Entry[] = [
  { name: 'room-10', count: 2 },
  { name: 'room-9' },
  { name: 'room-1', count: 30 },
];

const names = (label: string, isDescending: boolean): string[] =>
  sorted(ENTRIES, COLUMNS, { label, isDescending }).map(({ name }) => name);

test('names are sorted as people count, both ways', () => {
  expect(names('Name', false)).toEqual(['room-1', 'room-9', 'room-10']);
  expect(names('Name', true)).toEqual(['room-10', 'room-9', 'room-1']);
});

test('unknown values stand last, in either direction', () => {
  expect(names('Count', false)).toEqual(['room-10', 'room-1', 'room-9']);
  expect(names('Count', true)).toEqual(['room-1', 'room-10', 'room-9']);
});

test('a column that is not sorted by leaves the order', () => {
  expect(names('Action', false)).toEqual(['room-10', 'room-9', 'room-1']);
});

test('a column is sorted up, then down, then not', () => {
  const up = nextSorting('Name', undefined);
  const down = nextSorting('Name', up);
  expect([up, down, nextSorting('Name', down)]).toEqual([
    { label: 'Name', isDescending: false },
    { label: 'Name', isDescending: true },
    undefined,
  ]);
  expect(nextSorting('Count', down)).toEqual({ label: 'Count', isDescending: false });
});
