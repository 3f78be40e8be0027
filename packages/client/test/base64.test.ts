import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { decodeBase64, encodeBase64 } from '../src/base64.ts';

test('base64 is what every other implementation writes, and is read back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64');
      expect(encodeBase64(bytes)).toBe(text);
      expect(decodeBase64(text)).toEqual(bytes);
      expect(decodeBase64(`!12:${text}`, 4)).toEqual(bytes);
    }),
  );
});

test('only canonical base64 is read', () => {
  const letters = fc.constantFrom(...'ABwxyz019+/=-_ \n*é'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 12 }), (text) => {
      const bytes = decodeBase64(text);
      const isCanonical = Buffer.from(text, 'base64').toString('base64') === text;
      expect(bytes !== undefined).toBe(isCanonical);
      if (bytes !== undefined) expect(encodeBase64(bytes)).toBe(text);
    }),
    { numRuns: runs(2_000) },
  );
});

test('a full frame is encoded and decoded unchanged', () => {
  const bytes = Uint8Array.from({ length: 98_301 }, (_, index) => index * 7);
  expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
});
