import { type AttributeValue, type Item, setOf, typeOf } from './attribute-value.ts';
import { compareNumbers } from './numbers.ts';

/**
 * Below 0, 0 or above 0 for two strings, two numbers or two binaries; undefined for any other pair, which has no order.
 */
export function compareValues(left: AttributeValue, right: AttributeValue): number | undefined {
  if (left.S !== undefined && right.S !== undefined) return compareText(left.S, right.S);
  if (left.N !== undefined && right.N !== undefined) return compareNumbers(left.N, right.N);
  if (left.B !== undefined && right.B !== undefined) return Buffer.compare(bytes(left.B), bytes(right.B));
  return undefined;
}

/** By the bytes of UTF-8, as DynamoDB sorts: other than in JavaScript, U+FFFF comes before U+10000. */
export function compareText(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  for (let index = 0; index < end; index += 1) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one !== other) return codePointRank(one) - codePointRank(other);
  }
  return left.length - right.length;
}

/** Sets are equal in any order of their members. */
export function areEqual(left: AttributeValue, right: AttributeValue): boolean {
  const type = typeOf(left);
  if (type !== typeOf(right)) return false;
  if (left.L !== undefined && right.L !== undefined) return areListsEqual(left.L, right.L);
  if (left.M !== undefined && right.M !== undefined) return areItemsEqual(left.M, right.M);
  const [set, other] = [setOf(left), setOf(right)];
  if (set !== undefined && other !== undefined) return areSetsEqual(set.members, other.members);
  return left[type] === right[type];
}

function areListsEqual(left: readonly AttributeValue[], right: readonly AttributeValue[]): boolean {
  return left.length === right.length && left.every((value, index) => isEqualTo(value, right[index]));
}

function areItemsEqual(left: Item, right: Item): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => isEqualTo(left[name], right[name]));
}

function isEqualTo(left: AttributeValue | undefined, right: AttributeValue | undefined): boolean {
  return left !== undefined && right !== undefined && areEqual(left, right);
}

function areSetsEqual(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  const members = new Set(left);
  return right.every((member) => members.has(member));
}

const SURROGATES_START = 0xd800;
const SURROGATES_END = 0xe000;

/** Code units in the order of the code points that they stand for: surrogates last. */
function codePointRank(unit: number): number {
  if (unit < SURROGATES_START) return unit;
  return unit < SURROGATES_END ? unit + 0x2000 : unit - 0x800;
}

function bytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
