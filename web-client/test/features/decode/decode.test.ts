import { ExtData, ExtensionCodec, encode as encodeMessagePack } from '@msgpack/msgpack';
import { encode as encodeCbor } from 'cborg';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Of, bytesOfBase64, bytesOfHex, hexOf } from '../../../src/features/decode/bytes.ts';
import { decodePayload, PAYLOAD_FORMATS } from '../../../src/features/decode/decode.ts';
import {
  DECODE_BYTES_MAX,
  DEPTH_MAX,
  TEXT_CHARACTERS_SHOWN_MAX,
  VALUES_MAX,
} from '../../../src/features/decode/limits.ts';
import { scalarText } from '../../../src/features/decode/pretty.ts';
import { readCbor } from '../../../src/features/decode/read-structured.ts';
import { shownText } from '../../../src/features/decode/shown-text.ts';
import { ExactNumber, isContainer } from '../../../src/features/decode/value.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** Values that JSON, CBOR and MessagePack all preserve. */
const plainValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

function isCborContainer(bytes: Uint8Array): boolean {
  try {
    return isContainer(readCbor(bytes));
  } catch {
    return false;
  }
}

const container = plainValue.filter((value) => typeof value === 'object' && value !== null);

describe('the format that is detected for a payload', () => {
  it.each([
    ['', 'text'],
    ['hello', 'text'],
    ['two\nlines\tand a tab', 'text'],
    ['Grüße, 世界', 'text'],
    ['21.5', 'json'],
    ['-3', 'json'],
    ['true', 'json'],
    ['{"a":1}', 'json'],
    [' [1, 2]\n', 'json'],
    ['"quoted"', 'json'],
    ['{"a":', 'text'],
    ['trueish', 'text'],
    ['2026-11-21', 'text'],
    ['online', 'text'],
  ])('%j is %s', (text, format) => {
    expect(decodePayload(utf8(text))).toMatchObject({ format, wrapping: 'none', problem: '' });
  });

  it('bytes that are neither text nor a structure are shown as hex', () => {
    expect(decodePayload(bytes(0xff, 0xfe, 0x00))).toMatchObject({ format: 'hex' });
    expect(decodePayload(bytes(0, 1, 2))).toMatchObject({ format: 'hex' });
  });

  it('is CBOR for every object and array that was encoded so, with the same value', () => {
    fc.assert(
      fc.property(container, (value) => {
        const decoded = decodePayload(encodeCbor(value));
        // Empty ones and very short ones read the same in both formats, or as something else.
        if (decoded.format === 'cbor') expect(decoded.value).toEqual(value);
        else expect(encodeCbor(value).length).toBeLessThan(3);
      }),
    );
  });

  it('is MessagePack for maps that were encoded so, with the same value', () => {
    // The library refuses the key `__proto__`; such a map is shown as bytes.
    const map = fc
      .dictionary(fc.string({ minLength: 1 }), plainValue, { minKeys: 1, maxKeys: 5 })
      .filter((value) => !JSON.stringify(value).includes('"__proto__":'));
    fc.assert(
      fc.property(map, (value) => {
        const encoded = encodeMessagePack(value);
        const decoded = decodePayload(encoded);
        if (decoded.format === 'cbor') expect(isCborContainer(encoded)).toBe(true);
        else expect(decoded).toMatchObject({ format: 'msgpack', value });
      }),
    );
  });

  it('is CBOR for the few MessagePack maps whose bytes are whole CBOR as well', () => {
    const encoded = encodeMessagePack({ l: { '': -32769, ' ': 999626752 } });
    expect(isCborContainer(encoded)).toBe(true);
    expect(decodePayload(encoded).format).toBe('cbor');
  });

  it('is that of the bytes that base64 or hex text encodes, where they can be read', () => {
    const json = '{"temperature":21.5}';
    expect(decodePayload(utf8(btoa(json)))).toMatchObject({
      format: 'json',
      wrapping: 'base64',
      value: { temperature: 21.5 },
    });
    expect(decodePayload(utf8(hexOf(utf8(json))))).toMatchObject({ format: 'json', wrapping: 'hex' });
    const cbor = encodeCbor({ temperature: 21.5 });
    expect(decodePayload(utf8(base64Of(cbor)))).toMatchObject({ format: 'cbor', wrapping: 'base64' });
    expect(decodePayload(utf8(btoa('a sentence that was wrapped')))).toMatchObject({
      format: 'text',
      wrapping: 'base64',
      text: 'a sentence that was wrapped',
    });
  });

  it('almost never takes a word or an identifier for base64 or hex', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-';
    const identifier = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 40 });
    const words = fc.sample(identifier, { numRuns: 20_000, seed: 7 });
    const mistaken = words.filter((word) => decodePayload(utf8(word)).wrapping !== 'none');
    expect(mistaken.length).toBeLessThan(10);
  });

  it('follows the content type where the payload fits it', () => {
    const five = bytes(5);
    expect(decodePayload(five, 'auto', { contentType: 'application/cbor' })).toMatchObject({
      format: 'cbor',
      value: 5,
    });
    expect(decodePayload(five, 'auto', { contentType: 'application/x-msgpack' })).toMatchObject({
      format: 'msgpack',
      value: 5,
    });
    const senml = { contentType: 'application/senml+json; charset=utf-8' };
    expect(decodePayload(utf8('"x"'), 'auto', senml)).toMatchObject({ format: 'json', value: 'x' });
    expect(decodePayload(utf8('no json'), 'auto', { contentType: 'application/json' })).toMatchObject({
      format: 'text',
      problem: '',
    });
  });
});

describe('a payload that is made to be too much', () => {
  it('of more levels than the viewer shows is text, and says why', () => {
    const levels = (count: number): string => '['.repeat(count) + ']'.repeat(count);
    expect(decodePayload(utf8(levels(DEPTH_MAX)))).toMatchObject({ format: 'json', problem: '' });
    expect(decodePayload(utf8(levels(DEPTH_MAX + 1)))).toMatchObject({
      format: 'text',
      isTooMuch: true,
      problem: 'nested deeper than 200 levels',
    });
    expect(decodePayload(utf8(levels(1_000_000))).format).toBe('text');
  });

  it('with a bignum of millions of bits keeps it as bytes', () => {
    const payload = new Uint8Array(7 + 2_000_000).fill(0xa7);
    payload.set([0x81, 0xc2, 0x5a, 0, 0x1e, 0x84, 0x80]);
    const decoded = decodePayload(payload);
    expect(decoded).toMatchObject({ format: 'cbor', problem: '' });
    expect((decoded.value as readonly unknown[])[0]).toBeInstanceOf(Uint8Array);
  });

  it('keeps a decimal that a double would change, and the last of two members with a name', () => {
    const { value } = decodePayload(utf8('{"a":1,"a":0.12345678901234567890123,"b":0.1}'));
    expect(value).toEqual({ a: new ExactNumber('0.12345678901234567890123'), b: 0.1 });
  });
});

describe('a format that the user chose', () => {
  it('is kept, with the parser’s words where the payload does not fit', () => {
    const decoded = decodePayload(utf8('not json'), 'json');
    expect(decoded.format).toBe('json');
    expect(decoded.problem).not.toBe('');
  });

  it('reads through base64', () => {
    const wrapped = utf8(base64Of(encodeMessagePack({ a: 1 })));
    expect(decodePayload(wrapped, 'msgpack')).toMatchObject({
      wrapping: 'base64',
      value: { a: 1 },
      problem: '',
    });
  });

  it('text shows bytes that are no UTF-8 as replacement characters, and says so', () => {
    expect(decodePayload(bytes(0x61, 0xff), 'text')).toMatchObject({ text: 'a\ufffd', problem: 'not UTF-8' });
  });

  it('never throws, whatever the bytes', () => {
    const choice = fc.constantFrom('auto' as const, ...PAYLOAD_FORMATS);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), choice, (payload, format) => {
        expect(() => decodePayload(payload, format)).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('hostile payloads', () => {
  it('nesting that no stack holds is a problem of the payload, not of the page', () => {
    const deep = new Uint8Array(100_000).fill(0x81);
    expect(decodePayload(deep, 'cbor').problem).not.toBe('');
    expect(decodePayload(new Uint8Array(100_000).fill(0x91), 'msgpack').problem).not.toBe('');
    expect(decodePayload(utf8('['.repeat(100_000)), 'json').problem).not.toBe('');
    const problem = 'nested deeper than 200 levels';
    expect(decodePayload(deep)).toMatchObject({ format: 'cbor', problem, isTooMuch: true });
  });

  it('an array that claims four thousand million entries takes no room', () => {
    expect(decodePayload(bytes(0xdd, 0xff, 0xff, 0xff, 0xff), 'msgpack').problem).toMatch(/max length/i);
    expect(decodePayload(bytes(0x9a, 0xff, 0xff, 0xff, 0xff), 'cbor').problem).toMatch(/not enough entries/);
  });

  it('a member named __proto__ is a member', () => {
    const { value } = decodePayload(utf8('{"__proto__":{"polluted":12345678901234567890}}'));
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('bytes that only begin like MessagePack are no MessagePack', () => {
    for (const first of [0xff, 0x89, 0x92])
      expect(decodePayload(new Uint8Array(VALUES_MAX * 3).fill(0xff).fill(first, 0, 1))).toMatchObject({
        format: 'hex',
        problem: '',
      });
  });

  it('text of characters that cannot be seen is cut like any other', () => {
    const { text, isCut } = shownText(decodePayload(utf8('a\u200b'.repeat(20_000))), false);
    expect(isCut).toBe(true);
    expect(text.length).toBe(TEXT_CHARACTERS_SHOWN_MAX);
  });

  it.each([
    ['json', utf8(`[${'1,'.repeat(VALUES_MAX)}1]`), utf8(`["${','.repeat(VALUES_MAX)}"]`)],
    ['json', utf8(`[${'[],'.repeat(VALUES_MAX)}1]`), utf8(`[${'1,'.repeat(1_000)}1]`)],
    ['cbor', encodeCbor(Array(VALUES_MAX + 1).fill(1)), encodeCbor([new Uint8Array(VALUES_MAX * 2)])],
    ['cbor', encodeCbor(Array(VALUES_MAX + 1).fill([])), encodeCbor(Array(1_000).fill('text'))],
    [
      'msgpack',
      encodeMessagePack(Array(VALUES_MAX + 1).fill(1)),
      encodeMessagePack([new Uint8Array(VALUES_MAX * 2)]),
    ],
    [
      'msgpack',
      encodeMessagePack(Array(300).fill(Array(300).fill('a'))),
      encodeMessagePack([
        ...Array(1_000).fill({ text: 'a'.repeat(300), numbers: [1, -1, 70_000, 2 ** 40, 0.5, null] }),
      ]),
    ],
  ] as const)(
    '%s of too many values is not read, and says so; one as long with fewer is',
    (format, many, few) => {
      expect(decodePayload(many)).toMatchObject({
        value: undefined,
        problem: 'more than 20,000 values',
        isTooMuch: true,
      });
      expect(decodePayload(few)).toMatchObject({ format, problem: '' });
    },
  );

  it('beyond the limit only text and bytes are shown', () => {
    const large = new Uint8Array(DECODE_BYTES_MAX + 1).fill(0x31);
    expect(decodePayload(large)).toMatchObject({ format: 'text', isTooMuch: true });
    expect(decodePayload(large, 'json').problem).toBe('larger than 2,097,152 bytes');
    expect(decodePayload(large.subarray(1), 'json').problem).toMatch(/^long numbers in more than/);
    expect(decodePayload(utf8(`"${'a'.repeat(DECODE_BYTES_MAX - 2)}"`), 'json').problem).toBe('');
  });
});

describe('numbers and kinds that JSON lacks', () => {
  it('shows integers beyond 2^53 as they were written', () => {
    const { value } = decodePayload(utf8('{"id":9007199254740993,"ratio":0.12345678901234567,"n":12}'));
    expect(value).toEqual({
      id: new ExactNumber('9007199254740993'),
      ratio: Number('0.12345678901234567'),
      n: 12,
    });
  });

  it('keeps 64-bit integers of the binary formats', () => {
    const big = 2n ** 63n + 1n;
    expect(decodePayload(encodeCbor({ big })).value).toEqual({ big });
    const messagePack = encodeMessagePack({ big, small: 7n }, { useBigInt64: true });
    expect(decodePayload(messagePack).value).toEqual({ big, small: 7 });
  });

  it('reads dates, bytes, keys that are numbers, and tags that it does not know', () => {
    const tagged = bytes(0xa3, 0x01, 0xc1, 0x00, 0x02, 0x41, 0xff, 0x03, 0xd9, 0x30, 0x39, 0x61, 0x78);
    const { value } = decodePayload(tagged, 'cbor');
    expect(value).toEqual({ 1: new Date(0), 2: bytes(0xff), 3: 'x' });
    expect(scalarText(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
    expect(scalarText(bytes(0xff, 0x01))).toBe("h'ff01'");
  });

  it('reads MessagePack’s timestamps and shows extensions that it does not know', () => {
    const extensionCodec = new ExtensionCodec();
    const value = { at: new Date(5), other: new ExtData(7, bytes(1)) };
    const decoded = decodePayload(encodeMessagePack(value, { extensionCodec }));
    expect(decoded.value).toEqual({ at: new Date(5), other: { type: 7, data: bytes(1) } });
  });
});

describe('base64 and hex', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20_000 }), (value) => {
        expect(bytesOfBase64(base64Of(value))).toEqual(value);
        expect(bytesOfHex(hexOf(value))).toEqual(value);
      }),
      { numRuns: 30 },
    );
  });

  it('take both alphabets, separators and either case, and nothing else', () => {
    expect(bytesOfBase64('-_8')).toEqual(bytes(0xfb, 0xff));
    expect(bytesOfBase64('a')).toBeUndefined();
    expect(bytesOfBase64('a b')).toBeUndefined();
    expect(bytesOfHex('0A:ff 10-11')).toEqual(bytes(10, 255, 16, 17));
    expect(bytesOfHex('abc')).toBeUndefined();
    expect(bytesOfHex('0x10')).toBeUndefined();
  });
});
