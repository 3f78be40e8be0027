import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compareValues } from '../../../src/features/decode/diff.ts';
import { hexDump } from '../../../src/features/decode/hex-dump.ts';
import { indentedJson } from '../../../src/features/decode/json-layout.ts';
import { parsePath, pathText, valueAt } from '../../../src/features/decode/json-path.ts';
import { jsonRows, openAtFirst } from '../../../src/features/decode/json-rows.ts';
import {
  DIFFERENCES_MAX,
  ENTRIES_SHOWN_MAX,
  PIECE_CHARACTERS_MAX,
} from '../../../src/features/decode/limits.ts';
import { prettyText, previewText } from '../../../src/features/decode/pretty.ts';
import { blocksOf } from '../../../src/features/decode/shown-text.ts';
import { ExactNumber, numberOf } from '../../../src/features/decode/value.ts';

describe('a path', () => {
  it('is written as RFC 9535 has it', () => {
    expect(pathText(['rooms', 0, 'the name', "it's"])).toBe("$.rooms[0]['the name']['it\\'s']");
    expect(pathText([])).toBe('$');
  });

  it('reads back to the same value, for any names', () => {
    const segment = fc.oneof(fc.string(), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (path) => {
        expect(parsePath(pathText(path))).toEqual(path);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is taken without the root too, and refused where it leads to many values', () => {
    expect(parsePath('rooms[2].temperature')).toEqual(['rooms', 2, 'temperature']);
    expect(parsePath('["a"].b')).toEqual(['a', 'b']);
    expect(parsePath('$.*')).toBeUndefined();
    expect(parsePath('$..a')).toBeUndefined();
    expect(parsePath('a..b')).toBeUndefined();
  });

  it('leads to own members only', () => {
    expect(valueAt({ a: [{ b: 5 }] }, ['a', 0, 'b'])).toBe(5);
    expect(valueAt({ a: 1 }, ['toString'])).toBeUndefined();
    expect(valueAt('text', ['length'])).toBeUndefined();
  });
});

describe('pretty text', () => {
  it('is what JSON.stringify writes, for JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(prettyText(value as never)).toBe(JSON.stringify(JSON.parse(JSON.stringify(value)), null, 2));
      }),
    );
  });

  it('keeps exact numbers', () => {
    expect(prettyText({ id: new ExactNumber('9007199254740993') })).toBe('{\n  "id": 9007199254740993\n}');
  });

  it('ends at its limit, also where indentation would make it long', () => {
    let deep: unknown = new Array(60_000).fill(1);
    for (let level = 0; level < 199; level += 1) deep = [deep];
    expect(prettyText(deep as never, 10_000).length).toBeLessThan(11_000);
    expect(prettyText(new Uint8Array(1_000_000), 10_000).length).toBeLessThan(21_000);
    expect(indentedJson(JSON.stringify(deep), 10_000)).toMatchObject({ isCut: true });
  });

  it('of JSON keeps each name, number and text as it was sent', () => {
    const text = '{"a":1.50,"a":[],"b":{ },"c":"x\\"]","d":[1,\ttrue]}';
    expect(indentedJson(text, 1_000)).toEqual({
      text: '{\n  "a": 1.50,\n  "a": [],\n  "b": {},\n  "c": "x\\"]",\n  "d": [\n    1,\n    true\n  ]\n}',
      isCut: false,
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        expect(JSON.parse(indentedJson(json, 1_000_000).text)).toEqual(JSON.parse(json));
      }),
    );
  });

  it('is cut for a row of a list, without walking the rest', () => {
    expect(previewText({ a: [1, 2], b: 'x' }, 100)).toBe('{"a": [1, 2], "b": "x"}');
    expect(previewText({ a: 'x'.repeat(50) }, 10)).toBe('{"a": "xxx…');
    const visited: string[] = [];
    const watched = new Proxy(
      { a: 1, b: 2, c: 3 },
      {
        get: (object, key: 'a') => {
          visited.push(key);
          return object[key];
        },
      },
    );
    previewText(watched, 8);
    expect(visited).toEqual(['a', 'b']);
  });
});

describe('a number for a chart', () => {
  it('is a number, text of a number, or a truth value', () => {
    expect([5, '5.5', ' 7 ', true, false, 10n, new ExactNumber('1e3')].map(numberOf)).toEqual([
      5, 5.5, 7, 1, 0, 10, 1000,
    ]);
    expect(['', ' ', 'five', null, undefined, {}, [1], Number.NaN].map(numberOf)).toEqual(
      new Array(8).fill(undefined),
    );
  });
});

describe('the difference to the message before', () => {
  it('names what was added, removed and changed, with its path', () => {
    const { differences, more } = compareValues(
      { a: 1, b: [1, 2], gone: true },
      { a: 2, b: [1, 3], c: null },
    );
    expect(more).toBe(0);
    expect(differences).toEqual(
      expect.arrayContaining([
        { kind: 'changed', path: ['a'], before: 1, after: 2 },
        { kind: 'changed', path: ['b', 1], before: 2, after: 3 },
        { kind: 'removed', path: ['gone'], before: true, after: undefined },
        { kind: 'added', path: ['c'], before: undefined, after: null },
      ]),
    );
    expect(differences).toHaveLength(4);
  });

  it('compares values without members, bytes and exact numbers', () => {
    expect(compareValues(1, 2).differences).toEqual([{ kind: 'changed', path: [], before: 1, after: 2 }]);
    expect(compareValues(Uint8Array.of(1), Uint8Array.of(1)).differences).toEqual([]);
    const [before, after] = [new ExactNumber('9007199254740993'), new ExactNumber('9007199254740995')];
    expect(compareValues({ id: before }, { id: after }).differences).toEqual([
      { kind: 'changed', path: ['id'], before, after },
    ]);
  });

  it('is empty for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = JSON.parse(JSON.stringify(value));
        expect(compareValues(JSON.parse(JSON.stringify(value)), copy).differences).toEqual([]);
      }),
    );
  });

  it('lists as many as the limit and counts the rest', () => {
    const before = Array.from({ length: DIFFERENCES_MAX + 3 }, () => 0);
    const { differences, more } = compareValues(
      before,
      before.map(() => 1),
    );
    expect([differences.length, more]).toEqual([DIFFERENCES_MAX, 3]);
  });
});

describe('the lines of a value', () => {
  const value = { a: 1, list: [{ b: 2 }, 'x'], empty: {} };

  it('follow what is open, with level, position and size for a screen reader', () => {
    const rows = jsonRows(value, (id) => ['$', '$.list'].includes(id));
    expect(
      rows.map(({ id, level, position, siblings, isOpen }) => [id, level, position, siblings, isOpen]),
    ).toEqual([
      ['$', 1, 1, 1, true],
      ['$.a', 2, 1, 3, false],
      ['$.list', 2, 2, 3, true],
      ['$.list[0]', 3, 1, 2, false],
      ['$.list[1]', 3, 2, 2, false],
      ['$.empty', 2, 3, 3, false],
    ]);
    expect(rows.map(({ entries }) => entries)).toEqual([3, undefined, 2, 1, undefined, 0]);
  });

  it('are open at first as far as they are few', () => {
    expect([...openAtFirst(value)]).toEqual(['$', '$.list', '$.empty', '$.list[0]']);
    const long = { list: new Array(10_000).fill({ a: 1 }) };
    expect([...openAtFirst(long)]).toEqual(['$']);
    expect([...openAtFirst('text')]).toEqual([]);
  });

  it('stop at the limit and say how many are hidden', () => {
    const rows = jsonRows(new Array(ENTRIES_SHOWN_MAX + 7).fill(0), () => true);
    expect(rows).toHaveLength(ENTRIES_SHOWN_MAX + 1);
    expect(rows[0]?.hidden).toBe(7);
  });
});

describe('a hex dump', () => {
  it('has an address, sixteen bytes in halves and their characters', () => {
    expect(hexDump(new TextEncoder().encode('Apus, the swift.\n!'), 100)).toBe(
      '00000000  41 70 75 73 2c 20 74 68  65 20 73 77 69 66 74 2e  Apus, the swift.\n' +
        '00000010  0a 21                                             .!',
    );
  });

  it('ends at the limit', () => {
    expect(hexDump(new Uint8Array(100), 20).split('\n')).toHaveLength(2);
    expect(hexDump(new Uint8Array(0), 20)).toBe('');
  });
});

test('the browser lays out no more than a piece of a text at a time, and every character of it', () => {
  for (const text of [
    '',
    'a',
    'x'.repeat(100_000),
    'ab\n'.repeat(50_000),
    `a\n${'\u0301'.repeat(9_999)}\n\n`,
  ]) {
    const blocks = blocksOf(text);
    expect(blocks.join('')).toBe(text);
    for (const block of blocks) expect(block.length).toBeLessThanOrEqual(PIECE_CHARACTERS_MAX);
  }
});
