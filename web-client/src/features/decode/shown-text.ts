import { visibleLines } from '../../ui/visible-text.ts';
import { base64Of, hexOf } from './bytes.ts';
import type { Decoded } from './decode.ts';
import { hexDump } from './hex-dump.ts';
import { indentedJson } from './json-layout.ts';
import {
  BYTES_MAX,
  BYTES_SHOWN_MAX,
  PIECE_CHARACTERS_MAX,
  TEXT_CHARACTERS_MAX,
  TEXT_CHARACTERS_SHOWN_MAX,
} from './limits.ts';
import { prettyText } from './pretty.ts';

/** A payload as text. */
export interface ShownText {
  readonly text: string;
  /** Whether the rest of it is left out. */
  readonly isCut: boolean;
}

export function isStructured({ format, problem }: Decoded): boolean {
  return problem === '' && format !== 'text' && format !== 'base64' && format !== 'hex';
}

/** @param isWhole whether the user asked for all of it; a page shows no more than `TEXT_CHARACTERS_MAX` of it */
export function shownText(decoded: Decoded, isWhole: boolean): ShownText {
  const { format, bytes } = decoded;
  const charactersMax = isWhole ? TEXT_CHARACTERS_MAX : TEXT_CHARACTERS_SHOWN_MAX;
  if (isStructured(decoded)) {
    if (format === 'json') return cut(indentedJson(decoded.text, charactersMax).text, charactersMax);
    return cut(prettyText(decoded.value, charactersMax), charactersMax);
  }
  if (format === 'text') return cut(decoded.text, charactersMax);
  const bytesMax = Math.min(bytes.length, isWhole ? BYTES_MAX : BYTES_SHOWN_MAX);
  const text = format === 'base64' ? base64Of(bytes.subarray(0, bytesMax)) : hexDump(bytes, bytesMax);
  return { text, isCut: bytesMax < bytes.length };
}

/** Characters of a value with a schema, or in a binary format, that are copied: indentation can make it long. */
export const COPIED_CHARACTERS_MAX = 16 * 1024 * 1024;

/** All of a payload: text and JSON as they were sent, and many bytes as digits alone. */
export function copiedText(decoded: Decoded): string {
  const { format, text, bytes } = decoded;
  if (format === 'text' || (format === 'json' && isStructured(decoded))) return text;
  if (isStructured(decoded)) return prettyText(decoded.value, COPIED_CHARACTERS_MAX);
  if (format === 'base64') return base64Of(bytes);
  return bytes.length > BYTES_MAX ? hexOf(bytes) : hexDump(bytes, bytes.length);
}

function cut(text: string, charactersMax: number): ShownText {
  // Characters that cannot be seen are written with several: so no more pieces are written than fit.
  let shown = '';
  let at = 0;
  while (at < text.length && shown.length <= charactersMax) {
    const end = endOfPiece(text, at);
    shown += visibleLines(text.slice(at, end));
    at = end;
  }
  const isCut = at < text.length || shown.length > charactersMax;
  return { text: isCut ? shown.slice(0, charactersMax) : shown, isCut };
}

/** Between two characters, and not within one of two halves. */
function endOfPiece(text: string, start: number): number {
  const end = Math.min(text.length, start + PIECE_CHARACTERS_MAX);
  const before = text.charCodeAt(end - 1);
  return end < text.length && before >= 0xd800 && before < 0xdc00 ? end - 1 : end;
}

/** Lines that the browser lays out together; those out of sight it leaves. */
const BLOCK_LINES = 200;

/** The text in blocks of whole lines, and of pieces of longer ones. */
export function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfBlock(text, start);
    blocks.push(text.slice(start, end));
    start = end;
  }
  return blocks;
}

function endOfBlock(text: string, start: number): number {
  const most = start + PIECE_CHARACTERS_MAX;
  let end = start;
  for (let lines = 0; lines < BLOCK_LINES && end < most; lines += 1) {
    const next = text.indexOf('\n', end) + 1;
    if (next === 0 || next > most) return end > start ? end : Math.min(most, text.length);
    end = next;
  }
  return end;
}
