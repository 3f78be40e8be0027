import { decode as decodeMessagePack, ExtData } from '@msgpack/msgpack';
import { decode as decodeCbor, Tokenizer } from 'cborg';
import type { TagDecoder } from 'cborg/interface';
import { bigIntDecoder, bigNegIntDecoder, dateDecoder } from 'cborg/taglib';
import { parse } from 'lossless-json';
import { checkLimits } from './json-layout.ts';
import { BIG_NUMBER_BYTES_MAX, EXACT_CHARACTERS_MAX } from './limits.ts';
import { countMessagePack } from './message-pack-count.ts';
import { type DecodedValue, ExactNumber, LimitError, toDecodedValue, tooDeep, ValueCount } from './value.ts';

export type StructuredFormat = 'json' | 'cbor' | 'msgpack';

/**
 * A number that a double might not represent. Text without one is read by the platform's parser, which is much faster.
 */
const LONG_NUMBER = /\d{16}|\d[eE]\+?\d{3}/;

/** @throws {SyntaxError | LimitError} that says where, or which limit */
export function readJson(text: string): DecodedValue {
  checkLimits(text);
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as DecodedValue;
  if (text.length > EXACT_CHARACTERS_MAX)
    throw new LimitError(`long numbers in more than ${EXACT_CHARACTERS_MAX.toLocaleString('en')} characters`);
  // As with the platform's parser, the last of several members with a name counts.
  const onDuplicateKey = ({ newValue }: { newValue: unknown }): unknown => newValue;
  return parse(text, null, { parseNumber: exactNumber, onDuplicateKey }) as DecodedValue;
}

function exactNumber(source: string): number | ExactNumber {
  const number = Number(source);
  return String(number) === source || isSameFraction(source, number) ? number : new ExactNumber(source);
}

/** Fractions are written in many ways: up to these digits, the number is the one that was sent. */
const EXACT_DIGITS_MAX = 17;

function isSameFraction(source: string, number: number): boolean {
  const digits = source.replace(/[eE].*$/, '').replace(/^-?[0.]*|[-.]/g, '');
  return /[.eE]/.test(source) && Number.isFinite(number) && digits.length <= EXACT_DIGITS_MAX;
}

/** Dates and bignums; for any other tag (RFC 8949, section 3.4) the content. */
const KNOWN_TAGS: Record<number, TagDecoder> = {
  0: dateDecoder,
  1: dateDecoder,
  2: bounded(bigIntDecoder),
  3: bounded(bigNegIntDecoder),
};

/** The time to make and to write a bignum grows with the square of its length: a long one stays bytes. */
function bounded(decode: TagDecoder): TagDecoder {
  return (content) => {
    const bytes: unknown = content();
    const isLong = bytes instanceof Uint8Array && bytes.length > BIG_NUMBER_BYTES_MAX;
    return isLong ? bytes : decode(Object.assign(() => bytes, content));
  };
}

const TAGS = new Proxy(KNOWN_TAGS, {
  get: (known, tag) => known[Number(tag)] ?? ((content: () => unknown) => content()),
});

/** Ends where there are too many. */
class CountedTokens extends Tokenizer {
  readonly #values = new ValueCount();

  override next(): ReturnType<Tokenizer['next']> {
    this.#values.add();
    return super.next();
  }
}

/** @throws Error that says what is wrong; also where bytes are left over */
export function readCbor(bytes: Uint8Array): DecodedValue {
  // The library fills in its own defaults only where it makes the tokens itself.
  const options = {
    allowIndefinite: true,
    allowUndefined: true,
    allowBigInt: true,
    useMaps: true,
    tags: TAGS,
  };
  const tokenizer = new CountedTokens(bytes, options);
  try {
    return toDecodedValue(decodeCbor(bytes, { ...options, tokenizer }));
  } catch (error) {
    // The library calls itself for each level, and ends where the stack does.
    throw error instanceof RangeError && !(error instanceof LimitError) ? tooDeep() : error;
  }
}

/** @throws Error that says what is wrong; also where bytes are left over */
export function readMessagePack(bytes: Uint8Array): DecodedValue {
  countMessagePack(bytes);
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
