import { hexOf } from './bytes.ts';
import {
  type DecodedContainer,
  type DecodedObject,
  type DecodedValue,
  ExactNumber,
  isContainer,
} from './value.ts';

/**
 * A value without entries as text; values that JSON lacks are written in CBOR's diagnostic notation (RFC 8949, section
 * 8).
 */
export function scalarText(value: DecodedValue): string {
  if (value instanceof ExactNumber) return value.source;
  if (value instanceof Uint8Array) return `h'${hexOf(value)}'`;
  if (value instanceof Date) return dateText(value);
  if (typeof value === 'string') return JSON.stringify(value);
  return String(value);
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
}

/** Two spaces for each level, as `JSON.stringify` would, with numbers as they came; cut at the limit. */
export function prettyText(value: DecodedValue, charactersMax = Number.POSITIVE_INFINITY): string {
  const parts: string[] = [];
  let room = charactersMax;
  const add = (part: string): boolean => {
    parts.push(part);
    room -= part.length;
    return room >= 0;
  };
  writeLines(value, '\n', add, charactersMax);
  return parts.join('');
}

/** @returns false once there is no more room */
function writeLines(
  value: DecodedValue,
  line: string,
  add: (part: string) => boolean,
  charactersMax: number,
): boolean {
  if (value instanceof Uint8Array) return add(scalarText(value.subarray(0, charactersMax)));
  if (!isContainer(value)) return add(scalarText(value));
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? '[]' : '{}';
  const inner = `${line}  `;
  let separator = '';
  for (const [name, item] of entriesOf(value)) {
    const key = isArray ? '' : `${JSON.stringify(name)}: `;
    if (!add(`${separator || open}${inner}${key}`) || !writeLines(item, inner, add, charactersMax))
      return false;
    separator = ',';
  }
  return add(separator === '' ? `${open}${close}` : `${line}${close}`);
}

/** One by one: a list of a million entries is not read for a row of a table. */
function* entriesOf(value: DecodedContainer): Generator<readonly [string, DecodedValue]> {
  if (Array.isArray(value)) for (const item of value) yield ['', item];
  else for (const name in value) yield [name, (value as DecodedObject)[name]];
}

/** The value on one line, cut when it is long enough: for a row of a list. */
export function previewText(value: DecodedValue, charactersMax: number): string {
  const parts: string[] = [];
  let room = charactersMax;
  const add = (part: string): boolean => {
    parts.push(part);
    room -= part.length;
    return room > 0;
  };
  walk(value, add);
  const text = parts.join('');
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

/** @returns false once there is no more room */
function walk(value: DecodedValue, add: (part: string) => boolean): boolean {
  if (!isContainer(value)) return add(shortScalar(value));
  const isArray = Array.isArray(value);
  if (!add(isArray ? '[' : '{')) return false;
  let separator = '';
  for (const [name, item] of entriesOf(value)) {
    if (!add(`${separator}${isArray ? '' : `${shortText(name)}: `}`) || !walk(item, add)) return false;
    separator = ', ';
  }
  return add(isArray ? ']' : '}');
}

/** Characters of one text that a row is made of. */
const PART_CHARACTERS_MAX = 500;

function shortText(text: string): string {
  return JSON.stringify(text.slice(0, PART_CHARACTERS_MAX));
}

function shortScalar(value: DecodedValue): string {
  if (typeof value === 'string') return shortText(value);
  return scalarText(value instanceof Uint8Array ? value.subarray(0, PART_CHARACTERS_MAX) : value);
}
