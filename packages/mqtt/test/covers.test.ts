import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { covers, matches } from '../src/index.ts';
import { filter, TOPICS } from './filters.ts';

test('an allowed filter covers a requested one exactly when it matches every topic that the other matches', () => {
  fc.assert(
    fc.property(filter, filter, (allowed, requested) => {
      const reached = TOPICS.filter((topic) => matches(requested, topic));
      const expected = reached.every((topic) => matches(allowed, topic));
      expect([allowed, requested, covers(allowed, requested)]).toEqual([allowed, requested, expected]);
    }),
    { numRuns: runs(2000) },
  );
});

test.each([
  ['a/#', 'a', true],
  ['a/b', 'a/b/c', false],
  ['a/+', 'a/#', false],
  ['#', '$SYS/load', false],
  ['+/#', '#', true],
  ['a', '#', false],
])('%s covers %s: %s', (allowed, requested, expected) => {
  expect(covers(allowed, requested)).toBe(expected);
});
