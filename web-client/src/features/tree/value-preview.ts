import { hexOf, isPrintable } from '../decode/bytes.ts';

const decoder = new TextDecoder();

/** Bytes that are shown in hexadecimal. */
const HEX_BYTES_MAX = 24;

/**
 * A value in one line.
 * @param value its beginning
 * @param length how long the whole is
 */
export function valuePreview(value: Uint8Array, length: number): string {
  const isCut = value.length < length;
  const text = decoder.decode(value, { stream: isCut });
  // Drops the bytes of a character cut in two, which the decoder keeps back.
  if (isCut) decoder.decode();
  if (!isPrintable(text) || text.includes('\ufffd')) {
    const shown = hexOf(value.subarray(0, HEX_BYTES_MAX)).replace(/..(?=.)/g, '$& ');
    return length > HEX_BYTES_MAX ? `${shown} …` : shown;
  }
  const line = text.replaceAll(/\s+/g, ' ');
  return isCut ? `${line}…` : line;
}
