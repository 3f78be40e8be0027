import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { ExpressionError } from './expression-error.ts';
import type { Placeholders } from './placeholders.ts';
import { isReservedWord } from './reserved-words.ts';
import type { Tokens } from './tokens.ts';

/** A document path: the name of an attribute, then names in maps and indexes in lists. */
export type Path = readonly [string, ...(string | number)[]];

/** A name by itself begins with a letter, any other wants a placeholder. */
const NAME = /^[A-Za-z][A-Za-z0-9_]*$|^#[A-Za-z0-9_]+$/;
const INDEX = /^\d+$/;

/** Whether a path may begin here. */
export function isAtPath(tokens: Tokens): boolean {
  return NAME.test(tokens.next.text);
}

export function parsePath(tokens: Tokens, placeholders: Placeholders): Path {
  const path: [string, ...(string | number)[]] = [parseName(tokens, placeholders)];
  for (;;) {
    if (tokens.takeIf('.')) path.push(parseName(tokens, placeholders));
    else if (tokens.takeIf('[')) path.push(parseIndex(tokens));
    else return path;
  }
}

function parseName(tokens: Tokens, placeholders: Placeholders): string {
  if (!isAtPath(tokens)) throw tokens.unexpected();
  const { text } = tokens.take();
  if (text.startsWith('#')) return placeholders.name(text);
  if (!isReservedWord(text)) return text;
  throw new ExpressionError(`Attribute name is a reserved keyword; reserved keyword: ${text}`);
}

function parseIndex(tokens: Tokens): number {
  if (!INDEX.test(tokens.next.text)) throw tokens.unexpected();
  const index = Number(tokens.take().text);
  tokens.expect(']');
  return index;
}

/** The value at the path; undefined if there is none. */
export function valueAt(item: Item | undefined, path: Path): AttributeValue | undefined {
  let value = item?.[path[0]];
  for (let step = 1; step < path.length && value !== undefined; step += 1) {
    const element = path[step];
    value = typeof element === 'number' ? value.L?.[element] : value.M?.[element ?? ''];
  }
  return value;
}

/** As AWS writes it in messages: `[a, [1], b]`. */
export function pathText(path: Path): string {
  return `[${path.map((element) => (typeof element === 'number' ? `[${element}]` : element)).join(', ')}]`;
}

/** Two paths of which one begins with the other cannot both be changed, or projected. */
export function refuseOverlaps(paths: readonly Path[]): void {
  for (const [index, path] of paths.entries()) {
    for (const earlier of paths.slice(0, index)) refuseOverlap(earlier, path);
  }
}

function refuseOverlap(one: Path, two: Path): void {
  const both = `must remove or rewrite one of these paths; path one: ${pathText(one)}, path two: ${pathText(two)}`;
  for (let step = 0; step < Math.min(one.length, two.length); step += 1) {
    if (typeof one[step] !== typeof two[step]) {
      throw new ExpressionError(`Two document paths conflict with each other; ${both}`);
    }
    if (one[step] !== two[step]) return;
  }
  throw new ExpressionError(`Two document paths overlap with each other; ${both}`);
}
