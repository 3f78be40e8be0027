const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Control characters that no text contains: all but tab, line feed and carriage return. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

/** The bytes as UTF-8; undefined if they are invalid. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether the text is readable. */
export function isPrintable(text: string): boolean {
  return !CONTROL.test(text);
}

const DIGITS = new TextEncoder().encode('0123456789abcdef');
const asciiDecoder = new TextDecoder();

/** `0a1bff`. By way of bytes: a text of millions of digits that grows by two takes a second. */
export function hexOf(bytes: Uint8Array): string {
  const digits = new Uint8Array(bytes.length * 2);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    digits[at * 2] = DIGITS[byte >> 4] as number;
    digits[at * 2 + 1] = DIGITS[byte & 15] as number;
  }
  return asciiDecoder.decode(digits);
}

/**
 * Bytes of hexadecimal digits, in either case, with spaces, colons or dashes between pairs; undefined if the text is
 * something else.
 */
export function bytesOfHex(text: string): Uint8Array | undefined {
  const digits = text.replace(/[\s:-]/g, '');
  if (digits.length === 0 || digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

/** `fromCharCode` takes its arguments on the stack. */
const CHARACTERS_AT_A_TIME = 8_192;

export function base64Of(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_A_TIME) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_AT_A_TIME));
  }
  return btoa(binary);
}

/** Both alphabets of RFC 4648, padded or not. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;

/** Bytes of base64 text; undefined if it is invalid. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/[\r\n]/g, '').trim();
  if (!BASE64.test(digits)) return undefined;
  try {
    const binary = atob(digits.replaceAll('-', '+').replaceAll('_', '/'));
    // A plain loop: `Uint8Array.from` calls an iterator for every byte, and a file has a hundred million.
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch {
    // A length that no encoder gives.
    return undefined;
  }
}
