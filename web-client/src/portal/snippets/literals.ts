/**
 * Characters that a reader cannot recognise, or that end a line or a paste: control characters, direction marks, line
 * separators, lone surrogates. Strangers write descriptions, and readers paste them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** A text between single quotes, as JavaScript and Python read it. */
export function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll(UNSEEN, unicodeEscape);
  return `'${escaped}'`;
}

/** One word of a POSIX shell; with invisible characters, of bash and zsh. */
export function shellWord(text: string): string {
  if (text.search(UNSEEN) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll(UNSEEN, (character) => bytesOf(character).map(hexEscape).join(''));
  return `$'${escaped}'`;
}

/** Of UTF-16: all languages of the page know these. */
function unicodeEscape(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}

function bytesOf(character: string): number[] {
  return [...new TextEncoder().encode(character)];
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
