import { expect, test } from 'vitest';
import { formatDateTime, formatMinute, formatTime } from '../../src/ui/format.ts';

test('times have 24 hours everywhere, in whatever language', () => {
  const atMs = new Date(2026, 4, 1, 15, 4, 5, 67).getTime();
  expect(formatTime(atMs)).toBe('15:04:05.067');
  expect(formatMinute(atMs)).toBe('15:04');
  expect(formatDateTime(atMs)).toMatch(/, 15:04:05$/);
});
