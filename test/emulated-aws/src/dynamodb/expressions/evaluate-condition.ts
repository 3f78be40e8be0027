import { type AttributeValue, type Item, setOf, typeOf } from '../values/attribute-value.ts';
import { areEqual, compareValues } from '../values/compare.ts';
import type { Comparator, Condition, Operand } from './condition.ts';
import { valueAt } from './path.ts';

/**
 * Whether the condition holds for an item, or for none. A missing value, or one of another type, is never less or
 * equal.
 */
export function holds(condition: Condition, item: Item | undefined): boolean {
  switch (condition.kind) {
    case 'and':
      return holds(condition.left, item) && holds(condition.right, item);
    case 'or':
      return holds(condition.left, item) || holds(condition.right, item);
    case 'not':
      return !holds(condition.condition, item);
    case 'compare':
      return compares(condition.comparator, resolve(condition.left, item), resolve(condition.right, item));
    case 'between':
      return isBetween(
        resolve(condition.operand, item),
        resolve(condition.low, item),
        resolve(condition.high, item),
      );
    case 'in':
      return condition.list.some((operand) =>
        compares('=', resolve(condition.operand, item), resolve(operand, item)),
      );
    case 'function': {
      const [first, second] = condition.operands.map((operand) => resolve(operand, item));
      return FUNCTIONS[condition.name](first, second);
    }
  }
}

type Value = AttributeValue | undefined;

const FUNCTIONS = {
  attribute_exists: (value: Value) => value !== undefined,
  attribute_not_exists: (value: Value) => value === undefined,
  attribute_type: (value: Value, type: Value) => value !== undefined && typeOf(value) === type?.S,
  begins_with: beginsWith,
  contains,
} as const;

function resolve(operand: Operand, item: Item | undefined): Value {
  if (operand.kind === 'value') return operand.value;
  if (operand.kind === 'path') return valueAt(item, operand.path);
  const length = lengthOf(resolve(operand.of, item));
  return length === undefined ? undefined : { N: String(length) };
}

function compares(comparator: Comparator, left: Value, right: Value): boolean {
  if (comparator === '<>') return !compares('=', left, right);
  if (left === undefined || right === undefined) return false;
  if (comparator === '=') return areEqual(left, right);
  const order = compareValues(left, right);
  if (order === undefined) return false;
  if (comparator === '<') return order < 0;
  if (comparator === '<=') return order <= 0;
  return comparator === '>' ? order > 0 : order >= 0;
}

function isBetween(value: Value, low: Value, high: Value): boolean {
  return compares('>=', value, low) && compares('<=', value, high);
}

function beginsWith(value: Value, prefix: Value): boolean {
  if (value?.S !== undefined && prefix?.S !== undefined) return value.S.startsWith(prefix.S);
  if (value?.B === undefined || prefix?.B === undefined) return false;
  const bytes = Buffer.from(prefix.B, 'base64');
  return Buffer.from(value.B, 'base64').subarray(0, bytes.length).equals(bytes);
}

/** A part of a text or of bytes, a member of a set, an element of a list. */
function contains(value: Value, part: Value): boolean {
  if (value === undefined || part === undefined) return false;
  if (value.S !== undefined && part.S !== undefined) return value.S.includes(part.S);
  if (value.B !== undefined && part.B !== undefined) {
    return Buffer.from(value.B, 'base64').includes(Buffer.from(part.B, 'base64'));
  }
  if (value.L !== undefined) return value.L.some((element) => areEqual(element, part));
  const set = setOf(value);
  const type = typeOf(part);
  return set?.type === `${type}S` && set.members.includes(String(part[type]));
}

/** The result of `size`: bytes of a string's UTF-8 or of a binary, elements of a list, map or set. */
function lengthOf(value: Value): number | undefined {
  if (value === undefined) return undefined;
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.L !== undefined) return value.L.length;
  if (value.M !== undefined) return Object.keys(value.M).length;
  return setOf(value)?.members.length;
}
