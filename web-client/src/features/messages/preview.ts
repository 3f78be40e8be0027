import type { LoggedMessage } from '../../engine/types.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { readyDecoder } from '../decode/decoders/registry.ts';
import { previewText } from '../decode/pretty.ts';

/** Characters of a payload in a row of the table: more does not fit on any screen. */
const PREVIEW_CHARACTERS_MAX = 240;

/** Bytes that are shown if the payload is no text. */
const PREVIEW_BYTES_MAX = 48;

/** Control characters other than white space, and the character that a decoder inserts for invalid bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BINARY = /[\u0000-\u0008\u000e-\u001f\ufffd]/;

/** Bytes of a payload that is decoded for a row: larger ones would slow down scrolling. */
const DECODED_BYTES_MAX = 16_384;

/** A payload in one line: its values where its topic has a decoder, its text, or the first bytes in hexadecimal. */
export function previewOf(message: LoggedMessage): string {
  return decodedPreview(message) ?? plainPreview(message);
}

function decodedPreview({ topic, payload }: LoggedMessage): string | undefined {
  const decode = payload.length > DECODED_BYTES_MAX ? undefined : readyDecoder(topic);
  if (decode === undefined) return undefined;
  try {
    return visibleText(previewText(decode(payload), PREVIEW_CHARACTERS_MAX));
  } catch {
    return undefined;
  }
}

function plainPreview(message: LoggedMessage): string {
  const text = message.text(PREVIEW_CHARACTERS_MAX);
  if (!BINARY.test(text)) return visibleText(text.replaceAll(/\s+/g, ' '));
  return Array.from(message.payload.subarray(0, PREVIEW_BYTES_MAX), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join(' ');
}
