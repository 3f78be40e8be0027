import { DEPTH_MAX } from './limits.ts';
import { tooDeep, ValueCount } from './value.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Deeper lines are not indented further: indentation would be most of the text. */
const INDENTED_LEVELS_MAX = 40;

/**
 * Looks through JSON before it is read. A loop, since recursion would end where its stack does.
 * @throws {LimitError} where the text has too many levels or values
 */
export function checkLimits(text: string): void {
  const values = new ValueCount();
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      level += 1;
      values.add();
      if (level > DEPTH_MAX) throw tooDeep();
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) level -= 1;
    else if (code === COMMA) values.add();
  }
}

/**
 * JSON on indented lines, with each name, number and text as it was sent, also where a name comes twice.
 *
 * @returns at most some characters more than `charactersMax`
 */
export function indentedJson(text: string, charactersMax: number): { text: string; isCut: boolean } {
  const parts: string[] = [];
  let length = 0;
  let level = 0;
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  for (let at = 0; at < text.length; at += 1) {
    if (length > charactersMax) return { text: parts.join(''), isCut: true };
    const code = text.charCodeAt(at);
    if (isSpace(code)) continue;
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      const next = afterSpace(text, at + 1);
      if (text.charCodeAt(next) === code + 2) {
        add(code === OPEN_LIST ? '[]' : '{}');
        at = next;
      } else {
        level += 1;
        add(`${text[at]}${lineStart(level)}`);
      }
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      level -= 1;
      add(`${lineStart(level)}${text[at]}`);
    } else if (code === COMMA) add(`,${lineStart(level)}`);
    else if (code === COLON) add(': ');
    else {
      const end = code === QUOTE ? endOfString(text, at) + 1 : endOfWord(text, at);
      const room = charactersMax - length + 1;
      add(text.slice(at, Math.min(end, at + room)));
      at = end - 1;
    }
  }
  return { text: parts.join(''), isCut: length > charactersMax };
}

function lineStart(level: number): string {
  return `\n${'  '.repeat(Math.max(0, Math.min(level, INDENTED_LEVELS_MAX)))}`;
}

/** The place of the closing quotation mark. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** The end of a number, or of `true`, `false` and `null`. */
function endOfWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /[\w.+-]/.test(text[at] ?? '')) at += 1;
  return at;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
