import type { AttributeValue, Item } from './attribute-value.ts';
import { numberBytes } from './numbers.ts';

/** The bytes of a list or a map, beside its values. */
const CONTAINER_BYTES = 3;
/** A list or a map counts so much for each element, beside the element itself. */
const ELEMENT_BYTES = 1;

/** Bytes of an item as DynamoDB bills it ("DynamoDB item sizes and formats"). */
export function itemBytes(item: Item): number {
  let sum = 0;
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) sum += Buffer.byteLength(name) + valueBytes(value);
  }
  return sum;
}

export function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.SS !== undefined) return sumOf(value.SS, (member) => Buffer.byteLength(member));
  if (value.NS !== undefined) return sumOf(value.NS, numberBytes);
  if (value.BS !== undefined) return sumOf(value.BS, (member) => Buffer.byteLength(member, 'base64'));
  if (value.L !== undefined) {
    return CONTAINER_BYTES + sumOf(value.L, (element) => ELEMENT_BYTES + valueBytes(element));
  }
  if (value.M !== undefined) {
    return CONTAINER_BYTES + ELEMENT_BYTES * Object.keys(value.M).length + itemBytes(value.M);
  }
  // BOOL and NULL.
  return 1;
}

function sumOf<T>(values: readonly T[], bytesOf: (value: T) => number): number {
  let sum = 0;
  for (const value of values) sum += bytesOf(value);
  return sum;
}
