import { bytesOfBase64, bytesOfHex, isPrintable, utf8Of } from './bytes.ts';
import { readyDecoder } from './decoders/registry.ts';
import type { PayloadDecoder } from './decoders/rules.ts';
import {
  DECODE_BYTES_MAX,
  TEXT_CHARACTERS_SHOWN_MAX,
  UNWRAPPED_BYTES_MIN,
  UNWRAPPED_CHARACTERS_MAX,
} from './limits.ts';
import { readCbor, readJson, readMessagePack, type StructuredFormat } from './read-structured.ts';
import { type DecodedValue, isContainer, LimitError } from './value.ts';

/** The format in which a payload is shown. `base64` and `hex` show its bytes. */
export type ChosenFormat = 'text' | StructuredFormat | 'base64' | 'hex';

/** Only a decoder reads formats with a schema, so users cannot choose them without one. */
export type PayloadFormat = ChosenFormat | 'protobuf';

export const PAYLOAD_FORMATS: readonly ChosenFormat[] = ['text', 'json', 'cbor', 'msgpack', 'base64', 'hex'];

export type FormatChoice = 'auto' | ChosenFormat;

/** The encoding of the text that contained the decoded bytes. */
export type Wrapping = 'none' | 'base64' | 'hex';

export interface Decoded {
  readonly format: PayloadFormat;
  readonly wrapping: Wrapping;
  /** The decoded bytes: the payload, or the bytes in its base64 or hex text. */
  readonly bytes: Uint8Array;
  /** For structured formats; `undefined` is also a value of CBOR. */
  readonly value: DecodedValue;
  /** For `text`, and for `json` as it was sent. */
  readonly text: string;
  /** Why the chosen format does not fit, in the parser's words; '' if it does. */
  readonly problem: string;
  /** Whether it has the format, and is only too much for a tree. */
  readonly isTooMuch?: boolean;
}

/** The properties of a message that describe its payload. */
export interface PayloadHints {
  readonly contentType?: string | undefined;
}

/** The payload in its most likely format, or in the one that the user chose. Never throws. */
export function decodePayload(
  payload: Uint8Array,
  choice: FormatChoice = 'auto',
  hints: PayloadHints = {},
): Decoded {
  if (choice === 'hex' || choice === 'base64') return shown(choice, payload);
  if (payload.length > DECODE_BYTES_MAX && choice !== 'text') return tooLarge(payload);
  if (choice === 'auto') return detect(payload, hints);
  if (choice === 'text') return asText(payload);
  return asChosen(payload, choice);
}

/** The payload as a decoder of its topic reads it. Never throws. */
export function decodeWith(decode: PayloadDecoder, payload: Uint8Array): Decoded {
  const format = 'protobuf';
  if (payload.length > DECODE_BYTES_MAX) return { ...tooLarge(payload), format };
  try {
    return { ...shown('hex', payload), format, value: decode(payload) };
  } catch (error) {
    return { ...shown('hex', payload), format, problem: (error as Error).message };
  }
}

/**
 * Only the value, for callers that follow many messages: by the topic's decoder, or else JSON, CBOR and MessagePack;
 * otherwise undefined.
 */
export function decodeValue(payload: Uint8Array, bytesMax: number, topic: string): DecodedValue {
  if (payload.length > bytesMax) return undefined;
  const decode = readyDecoder(topic);
  if (decode !== undefined) {
    try {
      return decode(payload);
    } catch {
      // A payload that the decoder cannot read may still be in a format without a schema.
    }
  }
  return detect(payload, {}).value;
}

function detect(payload: Uint8Array, hints: PayloadHints): Decoded {
  const hinted = formatOfContentType(hints.contentType);
  if (hinted !== undefined) {
    const decoded = structured(hinted, payload, 'none');
    if (decoded !== undefined) return decoded;
  }
  const text = utf8Of(payload);
  if (text === undefined) return detectBinary(payload, 'none') ?? shown('hex', payload);
  if (looksLikeJson(text)) {
    const json = readAs('json', payload, 'none');
    if (json.problem === '') return json;
    if (json.isTooMuch === true) return { ...textOf(payload, text), problem: json.problem, isTooMuch: true };
  }
  if (!isPrintable(text)) return detectBinary(payload, 'none') ?? shown('hex', payload);
  return detectWrapped(text) ?? textOf(payload, text);
}

/** Only objects and arrays: nearly every byte is some number in CBOR or MessagePack. */
function detectBinary(bytes: Uint8Array, wrapping: Wrapping): Decoded | undefined {
  const read = (['cbor', 'msgpack'] as const).map((format) => readAs(format, bytes, wrapping));
  const fitting = read.find(({ problem, value }) => problem === '' && isContainer(value));
  return fitting ?? read.find(({ isTooMuch }) => isTooMuch);
}

/** Text that encodes readable data; a word that merely could be base64 stays a word. */
function detectWrapped(text: string): Decoded | undefined {
  if (text.length > UNWRAPPED_CHARACTERS_MAX) return undefined;
  for (const wrapping of ['hex', 'base64'] as const) {
    const bytes = unwrap(text, wrapping);
    if (bytes === undefined || bytes.length < UNWRAPPED_BYTES_MIN) continue;
    const inner = utf8Of(bytes);
    if (inner === undefined) {
      const binary = detectBinary(bytes, wrapping);
      if (binary !== undefined) return binary;
    } else if (isPrintable(inner)) {
      const json = looksLikeJson(inner) ? structured('json', bytes, wrapping) : undefined;
      return json ?? { ...textOf(bytes, inner), wrapping };
    }
  }
  return undefined;
}

function asChosen(payload: Uint8Array, format: StructuredFormat): Decoded {
  const direct = readAs(format, payload, 'none');
  if (direct.problem === '') return direct;
  const text = utf8Of(payload);
  if (text === undefined) return direct;
  for (const wrapping of ['hex', 'base64'] as const) {
    const bytes = unwrap(text, wrapping);
    const wrapped = bytes === undefined ? undefined : structured(format, bytes, wrapping);
    if (wrapped !== undefined) return wrapped;
  }
  return direct;
}

function unwrap(text: string, wrapping: 'hex' | 'base64'): Uint8Array | undefined {
  return wrapping === 'hex' ? bytesOfHex(text) : bytesOfBase64(text);
}

function structured(format: StructuredFormat, bytes: Uint8Array, wrapping: Wrapping): Decoded | undefined {
  const decoded = readAs(format, bytes, wrapping);
  return decoded.problem === '' ? decoded : undefined;
}

function readAs(format: StructuredFormat, bytes: Uint8Array, wrapping: Wrapping): Decoded {
  try {
    const text = format === 'json' ? utf8Of(bytes) : '';
    if (text === undefined) throw new SyntaxError('not UTF-8');
    return { format, wrapping, bytes, value: read(format, bytes, text), text, problem: '' };
  } catch (error) {
    // A parser's error for bytes of another format, or a stack overflow.
    const isTooMuch = error instanceof LimitError;
    return { ...shown('hex', bytes), format, problem: (error as Error).message, isTooMuch };
  }
}

function read(format: StructuredFormat, bytes: Uint8Array, text: string): DecodedValue {
  if (format === 'cbor') return readCbor(bytes);
  return format === 'msgpack' ? readMessagePack(bytes) : readJson(text);
}

function asText(payload: Uint8Array): Decoded {
  const text = utf8Of(payload);
  if (text !== undefined) return textOf(payload, text);
  return { ...textOf(payload, new TextDecoder().decode(payload)), problem: 'not UTF-8' };
}

function textOf(bytes: Uint8Array, text: string): Decoded {
  return { format: 'text', wrapping: 'none', bytes, value: undefined, text, problem: '' };
}

function shown(format: 'hex' | 'base64', bytes: Uint8Array): Decoded {
  return { format, wrapping: 'none', bytes, value: undefined, text: '', problem: '' };
}

function tooLarge(payload: Uint8Array): Decoded {
  const head = utf8Of(payload);
  const isText = head !== undefined && isPrintable(head.slice(0, TEXT_CHARACTERS_SHOWN_MAX));
  const decoded = isText ? textOf(payload, head) : shown('hex', payload);
  return {
    ...decoded,
    problem: `larger than ${DECODE_BYTES_MAX.toLocaleString('en')} bytes`,
    isTooMuch: true,
  };
}

/** Whether trying a parser makes sense. */
function looksLikeJson(text: string): boolean {
  return /^\s*(?:[[{"\d]|-\d|true\b|false\b|null\b)/.test(text);
}

function formatOfContentType(contentType: string | undefined): StructuredFormat | undefined {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/[/+]json$/.test(type)) return 'json';
  if (/[/+]cbor$/.test(type)) return 'cbor';
  if (/[/+](?:x-|vnd\.)?(?:msgpack|messagepack)$/.test(type)) return 'msgpack';
  return undefined;
}
