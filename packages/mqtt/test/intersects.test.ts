import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { intersects, matches } from '../src/index.ts';
import { filter, TOPICS } from './filters.ts';

test('two filters intersect exactly when there is a topic that both match', () => {
  fc.assert(
    fc.property(filter, filter, (one, other) => {
      const expected = TOPICS.some((topic) => matches(one, topic) && matches(other, topic));
      expect([one, other, intersects(one, other)]).toEqual([one, other, expected]);
      expect([other, one, intersects(other, one)]).toEqual([other, one, expected]);
    }),
    { numRuns: runs(2000) },
  );
});

test.each([
  ['a/#', 'a', true],
  ['a/#', '+', true],
  ['a/b', 'a/b/c', false],
  ['a/+', '+/b', true],
  ['a/+/c', 'a/b/#', true],
  ['#', '$SYS/load', false],
  ['#', '$SYS/#', false],
  ['$SYS/+', '$SYS/#', true],
  ['/#', '+', false],
  ['/#', '#', true],
])('%s and %s have a topic in common: %s', (one, other, expected) => {
  expect(intersects(one, other)).toBe(expected);
  expect(intersects(other, one)).toBe(expected);
});
