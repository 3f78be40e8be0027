import { base64Of } from './bytes.ts';
import type { Decoded } from './decode.ts';
import { hexDump } from './hex-dump.ts';
import { BYTES_SHOWN_MAX, TEXT_CHARACTERS_SHOWN_MAX } from './limits.ts';
import { prettyText } from './pretty.ts';

/** A payload as text, and how much of it is omitted. */
export interface ShownText {
  readonly text: string;
  /** Omitted characters, or with hex and base64 bytes; 0 if it is complete. */
  readonly hidden: number;
}

export function isStructured({ format, problem }: Decoded): boolean {
  return problem === '' && format !== 'text' && format !== 'base64' && format !== 'hex';
}

/** @param isWhole whether the user asked for all of it */
export function shownText(decoded: Decoded, isWhole: boolean): ShownText {
  const { format, bytes } = decoded;
  if (isStructured(decoded)) return cut(prettyText(decoded.value), isWhole);
  if (format === 'text') return cut(decoded.text, isWhole);
  const bytesMax = isWhole ? bytes.length : Math.min(bytes.length, BYTES_SHOWN_MAX);
  const text = format === 'base64' ? base64Of(bytes.subarray(0, bytesMax)) : hexDump(bytes, bytesMax);
  return { text, hidden: bytes.length - bytesMax };
}

function cut(text: string, isWhole: boolean): ShownText {
  if (isWhole || text.length <= TEXT_CHARACTERS_SHOWN_MAX) return { text, hidden: 0 };
  return { text: text.slice(0, TEXT_CHARACTERS_SHOWN_MAX), hidden: text.length - TEXT_CHARACTERS_SHOWN_MAX };
}
