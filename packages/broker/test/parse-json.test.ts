import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX, parseJson } from '../src/index.ts';

const nested = (levels: number, [open, close]: readonly [string, string] = ['[', ']'], inside = '') =>
  open.repeat(levels) + inside + close.repeat(levels);

describe('JSON from outside', () => {
  it('has at most so many levels [SEC-WORK-4]', () => {
    for (const brackets of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":[', ']}]'],
    ] as const) {
      const levels = Math.floor(JSON_DEPTH_MAX / brackets[1].length);
      const inside = brackets[0].startsWith('{') ? '1' : '';
      expect(() => parseJson(nested(levels, brackets, inside))).not.toThrow();
      expect(() => parseJson(nested(levels + 1, brackets, inside))).toThrow('more than 100 levels');
    }
    expect(() => parseJson('['.repeat(1_000_000))).toThrow('more than 100 levels');
  });

  it.each([
    '"[[[\\"[[["',
    '{"a]": "\\\\", "b": "["}',
    ` [${'[],'.repeat(1_000)}1] `,
    JSON.stringify(nested(500)),
    'null',
  ])('is what JSON.parse reads: %s', (text) => expect(parseJson(text)).toEqual(JSON.parse(text)));

  it.each(['', '{', '"', '"\\', ']]]]', '[1,]'])('is refused where it is none: %s', (text) =>
    expect(() => parseJson(text)).toThrow(SyntaxError),
  );
});
