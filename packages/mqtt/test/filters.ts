import fc from 'fast-check';

const LEVELS = ['a', 'ab', '', '$x', 'other'];

/** A topic filter of up to four levels. */
export const filter = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'ab', '', '$x', '+'), { minLength: 0, maxLength: 3 }),
    fc.constantFrom('', 'a', '+', '#', '#'),
  )
  .map(([levels, last]) => [...levels, last].join('/'))
  .filter((text) => text !== '');

/** Every topic name of up to five levels: one level more than any filter here. */
export const TOPICS: readonly string[] = topicsOf(5).filter((topic) => topic !== '');

function topicsOf(depth: number): string[] {
  if (depth === 1) return [...LEVELS];
  const shorter = topicsOf(depth - 1);
  const longest = shorter.filter((topic) => topic.split('/').length === depth - 1);
  return [...shorter, ...longest.flatMap((topic) => LEVELS.map((level) => `${topic}/${level}`))];
}
