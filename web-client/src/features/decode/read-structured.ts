import { decode as decodeMessagePack, ExtData } from '@msgpack/msgpack';
import { decode as decodeCbor } from 'cborg';
import type { TagDecoder } from 'cborg/interface';
import { bigIntDecoder, bigNegIntDecoder, dateDecoder } from 'cborg/taglib';
import { parse } from 'lossless-json';
import { type DecodedValue, ExactNumber, toDecodedValue } from './value.ts';

export type StructuredFormat = 'json' | 'cbor' | 'msgpack';

/**
 * A number that a double might not represent. Text without one is read by the platform's parser, which is much faster.
 */
const LONG_NUMBER = /\d{16}|\d[eE]\+?\d{3}/;

/** @throws SyntaxError that says where */
export function readJson(text: string): DecodedValue {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as DecodedValue;
  return parse(text, null, exactNumber) as DecodedValue;
}

function exactNumber(source: string): number | ExactNumber {
  const number = Number(source);
  return String(number) === source || isSameFraction(source, number) ? number : new ExactNumber(source);
}

/** Fractions are written in many ways, and the last digit of a measurement is not exact. */
function isSameFraction(source: string, number: number): boolean {
  return /[.eE]/.test(source) && Number.isFinite(number);
}

/** Dates and bignums; for any other tag (RFC 8949, section 3.4) the content. */
const KNOWN_TAGS: Record<number, TagDecoder> = {
  0: dateDecoder,
  1: dateDecoder,
  2: bigIntDecoder,
  3: bigNegIntDecoder,
};
const TAGS = new Proxy(KNOWN_TAGS, {
  get: (known, tag) => known[Number(tag)] ?? ((content: () => unknown) => content()),
});

/** @throws Error that says what is wrong; also where bytes are left over */
export function readCbor(bytes: Uint8Array): DecodedValue {
  return toDecodedValue(decodeCbor(bytes, { useMaps: true, tags: TAGS }));
}

/** @throws Error that says what is wrong; also where bytes are left over */
export function readMessagePack(bytes: Uint8Array): DecodedValue {
  // Lengths are the sender's claims: a length beyond the received bytes is refused before memory is allocated.
  const max = bytes.length;
  const value = decodeMessagePack(bytes, {
    useBigInt64: true,
    maxArrayLength: max,
    maxMapLength: max,
    maxStrLength: max,
    maxBinLength: max,
    maxExtLength: max,
  });
  return toDecodedValue(value instanceof ExtData ? { ...value } : value);
}
