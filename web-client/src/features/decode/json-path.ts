/** The path from the root of a value to a part of it: names of members and indexes of arrays. */
export type ValuePath = readonly (string | number)[];

/** Names that need no quotes in RFC 9535's shorthand. */
const PLAIN_NAME = /^[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*$/;

/** A JSONPath (RFC 9535): `$.rooms[0]['the name']`. */
export function pathText(path: ValuePath): string {
  return `$${path.map(segmentText).join('')}`;
}

function segmentText(segment: string | number): string {
  if (typeof segment === 'number') return `[${segment}]`;
  if (PLAIN_NAME.test(segment)) return `.${segment}`;
  return `['${escaped(segment)}']`;
}

/** Inside single quotes, as in RFC 9535, section 2.3.1. */
function escaped(name: string): string {
  return name.replace(/[\\']|\p{Cc}/gu, (character) =>
    /[\\']/.test(character)
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** One step of a path that `pathText` writes, or of one without the leading `$.`, as people type it. */
const SEGMENT =
  /(?:^|\.)([A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Reads a path to one value; undefined for anything else, such as wildcards and filters. */
export function parsePath(text: string): ValuePath | undefined {
  const source = text.trim().replace(/^\$/, '');
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < source.length) {
    const match = SEGMENT.exec(source);
    if (match === null) return undefined;
    const [, name, index, single, double] = match;
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? unescaped(single ?? double ?? ''));
  }
  return path;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(name: string): string {
  return name.replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_, code: string | undefined, character: string) =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The part of a value that a path leads to; undefined where the path does not exist. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let part = value;
  for (const segment of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, segment)) return undefined;
    part = (part as Record<string | number, unknown>)[segment];
  }
  return part;
}
