/**
 * Base64 as RFC 4648, section 4, has it, and only so: `atob` would accept white space and missing padding, and
 * `Buffer` is not in browsers. Both directions go through tables, so a full frame takes well under a millisecond.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = 61;
const NONE = 255;

const toCode = new Uint8Array(64);
const toValue = new Uint8Array(128).fill(NONE);
for (let value = 0; value < 64; value += 1) {
  const code = ALPHABET.charCodeAt(value);
  toCode[value] = code;
  toValue[code] = value;
}

/** Argument lists have a limit in every engine; this is far below all of them. */
const CHUNK = 8_192;

export function encodeBase64(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const left = bytes.length - from;
    const bits = (at(bytes, from) << 16) | (at(bytes, from + 1) << 8) | at(bytes, from + 2);
    codes[to] = at(toCode, bits >> 18);
    codes[to + 1] = at(toCode, (bits >> 12) & 63);
    if (left > 1) codes[to + 2] = at(toCode, (bits >> 6) & 63);
    if (left > 2) codes[to + 3] = at(toCode, bits & 63);
  }
  let text = '';
  for (let from = 0; from < codes.length; from += CHUNK) {
    text += String.fromCharCode(...codes.subarray(from, from + CHUNK));
  }
  return text;
}

/** The bytes of canonical base64 that begins at `from`; `undefined` for anything else. */
export function decodeBase64(text: string, from = 0): Uint8Array<ArrayBuffer> | undefined {
  const length = text.length - from;
  if (length % 4 !== 0) return undefined;
  const padding = length === 0 || !text.endsWith('=') ? 0 : text.endsWith('==') ? 2 : 1;
  const bytes = new Uint8Array((length / 4) * 3 - padding);
  const end = text.length - padding;
  let bits = 0;
  let bitCount = 0;
  let to = 0;
  for (let index = from; index < end; index += 1) {
    const value = toValue[text.charCodeAt(index)] ?? NONE;
    if (value === NONE) return undefined;
    bits = (bits << 6) | value;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[to] = bits >> bitCount;
    to += 1;
    bits &= (1 << bitCount) - 1;
  }
  // Bits beyond the last byte must be 0, or two texts would mean the same bytes.
  return bits === 0 ? bytes : undefined;
}

/** 0 beyond the end, where base64 has zero bits too. */
function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
