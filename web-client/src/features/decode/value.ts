import { hexOf } from './bytes.ts';
import { DEPTH_MAX, VALUES_MAX } from './limits.ts';

/** A number as it was written, if a double would show another one. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** A payload has its format, and is too much for a tree. */
export class LimitError extends RangeError {}

export const tooDeep = (): LimitError => new LimitError(`nested deeper than ${DEPTH_MAX} levels`);

const tooMany = (): LimitError => new LimitError(`more than ${VALUES_MAX.toLocaleString('en')} values`);

/** Counts the values of a payload that is read. */
export class ValueCount {
  #left = VALUES_MAX;

  /** @throws {LimitError} */
  add(count = 1): void {
    this.#left -= count;
    if (this.#left < 0) throw tooMany();
  }
}

/** A value decoded from JSON, CBOR or MessagePack: JSON's values and the few further kinds of the binary formats. */
export type DecodedValue =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | ExactNumber
  | Date
  | Uint8Array
  | readonly DecodedValue[]
  | DecodedObject;

export interface DecodedObject {
  readonly [key: string]: DecodedValue;
}

/** An object or an array, which has entries. */
export type DecodedContainer = readonly DecodedValue[] | DecodedObject;

export function isContainer(value: DecodedValue): value is DecodedContainer {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Uint8Array || value instanceof Date || value instanceof ExactNumber)
  );
}

/**
 * The value as a number for a chart; undefined if it is none. Text that is a number counts: many devices quote numbers.
 */
export function numberOf(value: DecodedValue): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof ExactNumber) return Number(value.source);
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/**
 * Converts a library's result to a `DecodedValue`.
 * @throws {LimitError}
 */
export function toDecodedValue(value: unknown, depth = 0): DecodedValue {
  if (depth > DEPTH_MAX) throw tooDeep();
  if (typeof value === 'bigint') return narrowed(value);
  if (typeof value !== 'object' || value === null) return value as DecodedValue;
  if (value instanceof Date || value instanceof ExactNumber) return value;
  if (value instanceof Uint8Array) return value;
  if (value instanceof Map) return fromEntries(value, depth);
  if (value instanceof Set || Array.isArray(value)) {
    return Array.from(value, (item) => toDecodedValue(item, depth + 1));
  }
  return fromEntries(Object.entries(value), depth);
}

/** `Object.fromEntries`, unlike an assignment, keeps a key `__proto__` as any other. */
function fromEntries(entries: Iterable<readonly [unknown, unknown]>, depth: number): DecodedObject {
  return Object.fromEntries(
    Array.from(entries, ([key, value]) => [keyText(key), toDecodedValue(value, depth + 1)]),
  );
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  if (key instanceof Uint8Array) return `h'${hexOf(key)}'`;
  return typeof key === 'object' && key !== null ? JSON.stringify(key) : String(key);
}

function narrowed(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
