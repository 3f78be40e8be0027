import fc from 'fast-check';
import { expect, test } from 'vitest';
import { covers, matches } from '../src/index.ts';

const LEVELS = ['a', 'b', '', '$x', 'other'];

const filter = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', '', '$x', '+'), { minLength: 0, maxLength: 3 }),
    fc.constantFrom('', 'a', '+', '#', '#'),
  )
  .map(([levels, last]) => [...levels, last].join('/'))
  .filter((text) => text !== '');

/** Every topic name of up to five levels: one level more than any filter here. */
const TOPICS: readonly string[] = topicsOf(5);

function topicsOf(depth: number): string[] {
  if (depth === 1) return [...LEVELS];
  const shorter = topicsOf(depth - 1);
  const longest = shorter.filter((topic) => topic.split('/').length === depth - 1);
  return [...shorter, ...longest.flatMap((topic) => LEVELS.map((level) => `${topic}/${level}`))];
}

test('an allowed filter covers a requested one exactly when it matches every topic that the other matches', () => {
  const topics = TOPICS.filter((topic) => topic !== '');
  fc.assert(
    fc.property(filter, filter, (allowed, requested) => {
      const reached = topics.filter((topic) => matches(requested, topic));
      const expected = reached.every((topic) => matches(allowed, topic));
      expect([allowed, requested, covers(allowed, requested)]).toEqual([allowed, requested, expected]);
    }),
    { numRuns: 2000 },
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
