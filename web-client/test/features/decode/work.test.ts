import { encode as encodeMessagePack } from '@msgpack/msgpack';
import { encode as encodeCbor } from 'cborg';
import { expect, test } from 'vitest';
import { decodePayload } from '../../../src/features/decode/decode.ts';
import { compareValues } from '../../../src/features/decode/diff.ts';
import { jsonRows, openAtFirst } from '../../../src/features/decode/json-rows.ts';
import {
  DEPTH_MAX,
  DIFFERENCES_MAX,
  ENTRIES_SHOWN_MAX,
  PIECE_CHARACTERS_MAX,
  ROWS_OPEN_AT_FIRST_MAX,
  TEXT_CHARACTERS_MAX,
  TEXT_CHARACTERS_SHOWN_MAX,
  VALUES_MAX,
} from '../../../src/features/decode/limits.ts';
import { blocksOf, shownText } from '../../../src/features/decode/shown-text.ts';
import { type DecodedValue, isContainer } from '../../../src/features/decode/value.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n));

const SHAPES: readonly (readonly [string, Uint8Array])[] = [
  ['JSON of 3,000 levels', utf8('['.repeat(3_000) + ']'.repeat(3_000))],
  ['393 KB with 1,000 levels', utf8(`${'['.repeat(1_000)}${'1,'.repeat(195_000)}1${']'.repeat(1_000)}`)],
  ['numbers below 199 levels', utf8(`${'['.repeat(199)}${'1,'.repeat(19_000)}1${']'.repeat(199)}`)],
  ['1 MB on one line', utf8(`[${many(24_000, (n) => `{"name":"n${n}${'x'.repeat(25)}"}`).join()}]`)],
  ['1 MB of one text', utf8(`{"a":"${'x1'.repeat(500_000)}"}`)],
  ['140,000 names', utf8(`{${many(140_000, (n) => `"n${n}":1`).join()}}`)],
  ['19,000 names', utf8(`{${many(19_000, (n) => `"n${n}":1`).join()}}`)],
  ['long numbers', utf8(`[${many(15_000, (n) => `1234567890123456789${n}`).join()}]`)],
  ['a number of 400,000 digits', utf8(`{"n":${'7'.repeat(400_000)}}`)],
  ['characters that cannot be seen', utf8('\u200b'.repeat(600_000))],
  ['CBOR of 100,000 levels', new Uint8Array(100_000).fill(0x81)],
  ['CBOR of 1,000 levels', new Uint8Array(1_000).fill(0x81).fill(0, 999)],
  ['MessagePack of 100,000 levels', new Uint8Array(100_000).fill(0x91)],
  ['MessagePack of 1,000 levels', new Uint8Array(1_000).fill(0x91).fill(0, 999)],
  ['CBOR of 2 MB of bytes', encodeCbor({ a: new Uint8Array(1_900_000) })],
  ['CBOR with 1,000,000 numbers', encodeCbor(new Array(1_000_000).fill(1))],
  ['MessagePack with 1,000,000 numbers', encodeMessagePack(new Array(1_000_000).fill(1))],
];

/** The values of a tree, and its levels. */
function sizeOf(value: DecodedValue): { readonly values: number; readonly levels: number } {
  if (!isContainer(value)) return { values: 1, levels: 0 };
  const below = Object.values(value as object).map(sizeOf);
  return {
    values: below.reduce((sum, { values }) => sum + values, 1),
    levels: 1 + below.reduce((most, { levels }) => Math.max(most, levels), 0),
  };
}

test.each(SHAPES)(
  'of %s the page reads, compares and lays out no more than its limits',
  { timeout: 60_000 },
  (_, payload) => {
    const decoded = decodePayload(payload);
    const { values, levels } = sizeOf(decoded.value);
    expect(values).toBeLessThanOrEqual(VALUES_MAX);
    expect(levels).toBeLessThanOrEqual(DEPTH_MAX + 1);
    const open = openAtFirst(decoded.value);
    const rows = jsonRows(decoded.value, (id) => open.has(id));
    expect(rows.length).toBeLessThanOrEqual(Math.max(ROWS_OPEN_AT_FIRST_MAX, ENTRIES_SHOWN_MAX) + 1);
    const other = decodePayload(payload.map((byte) => (byte === 0x31 ? 0x32 : byte)));
    expect(compareValues(decoded.value, other.value).differences.length).toBeLessThanOrEqual(DIFFERENCES_MAX);
    for (const isWhole of [false, true]) {
      const { text } = shownText(decoded, isWhole);
      const isDump = decoded.format !== 'text' && decoded.problem !== '';
      const most = isWhole ? TEXT_CHARACTERS_MAX : TEXT_CHARACTERS_SHOWN_MAX;
      // A row of a dump has sixteen bytes in 79 characters.
      expect(text.length).toBeLessThanOrEqual(isDump ? most * 1.3 : most);
      expect(Math.max(0, ...blocksOf(text).map(({ length }) => length))).toBeLessThanOrEqual(
        PIECE_CHARACTERS_MAX,
      );
    }
  },
);

test('where a payload is too much for a tree, a sentence says why', () => {
  for (const [name, payload] of SHAPES) {
    const { value, isTooMuch, problem } = decodePayload(payload);
    const isText = name === 'characters that cannot be seen';
    if (value === undefined && !isText)
      expect([name, isTooMuch, problem]).toEqual([name, true, expect.any(String)]);
  }
});
