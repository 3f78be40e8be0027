import { expect, test } from 'vitest';
import { COLUMN_IDS, shownColumns } from '../../src/features/messages/columns.ts';

test('a narrow table leaves out what has no room, and a wide one scrolls sideways before columns overlap', () => {
  const narrow = shownColumns(COLUMN_IDS, 500);
  expect(narrow.columns).toEqual(['time', 'topic', 'payload', 'qos', 'flags']);
  expect(narrow.minWidthPx).toBeLessThanOrEqual(500);
  const wide = shownColumns(COLUMN_IDS, 821);
  expect(wide.columns).toEqual(COLUMN_IDS);
  expect(wide.minWidthPx).toBeGreaterThan(700);
});

test('a table that was not measured yet is taken for a wide one', () => {
  expect(shownColumns(['time', 'topic'], 0).template).toBe('112px minmax(120px, 22%)');
});
