import { hexOf } from './bytes.ts';
import { type DecodedValue, ExactNumber, isContainer } from './value.ts';

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

/** Two spaces for each level, as `JSON.stringify` would, with numbers as they came. */
export function prettyText(value: DecodedValue, indent = ''): string {
  if (!isContainer(value)) return scalarText(value);
  const inner = `${indent}  `;
  const isArray = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([key, item]) => `${inner}${isArray ? '' : `${JSON.stringify(key)}: `}${prettyText(item, inner)}`,
  );
  const [open, close] = isArray ? '[]' : '{}';
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
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
  if (!isContainer(value)) return add(scalarText(value));
  const isArray = Array.isArray(value);
  if (!add(isArray ? '[' : '{')) return false;
  let isFirst = true;
  for (const key in value) {
    const separator = isFirst ? '' : ', ';
    const name = isArray ? '' : `${JSON.stringify(key)}: `;
    if (!add(separator + name)) return false;
    if (!walk((value as Record<string, DecodedValue>)[key], add)) return false;
    isFirst = false;
  }
  return add(isArray ? ']' : '}');
}
