import { LIMITS } from '../limits.ts';
import { type AttributeValue, isTypeName, type TypeName, typeOf } from '../values/attribute-value.ts';
import { compareValues } from '../values/compare.ts';
import type { Condition, ConditionFunction, Operand } from './condition.ts';
import { ExpressionError } from './expression-error.ts';
import { pathText } from './path.ts';

/* Checks of a condition before any item is read. Each check returns the condition, or throws an ExpressionError. */

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

const ORDERED: ReadonlySet<TypeName> = new Set(['S', 'N', 'B']);
const NUMBERS_OF_OPERANDS: Readonly<Record<ConditionFunction, number>> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
};

export function checkComparison(condition: Of<'compare'>): Condition {
  const { comparator, left, right } = condition;
  checkDistinct(comparator, left, [right]);
  if (comparator !== '=' && comparator !== '<>') checkOrdered(comparator, [left, right]);
  return condition;
}

export function checkBetween(condition: Of<'between'>): Condition {
  const { low, high } = condition;
  checkOrdered('BETWEEN', [condition.operand, low, high]);
  if (low.kind !== 'value' || high.kind !== 'value') return condition;
  const bounds = `lower bound operand: ${shown(low.value)}, upper bound operand: ${shown(high.value)}`;
  if (typeOf(low.value) !== typeOf(high.value)) {
    throw new ExpressionError(
      `The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`,
    );
  }
  if ((compareValues(low.value, high.value) ?? 0) > 0) {
    throw new ExpressionError(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`,
    );
  }
  return condition;
}

export function checkIn(condition: Of<'in'>): Condition {
  checkDistinct('IN', condition.operand, condition.list);
  if (condition.list.length > LIMITS.inOperandsMax) throw wrongNumber('IN', condition.list.length + 1);
  return condition;
}

export function checkFunction(name: string, operands: readonly Operand[]): Condition {
  if (!isConditionFunction(name)) throw new ExpressionError(`Invalid function name; function: ${name}`);
  if (operands.length !== NUMBERS_OF_OPERANDS[name]) throw wrongNumber(name, operands.length);
  const [first, second] = operands;
  if (first !== undefined && second !== undefined) checkDistinct(name, first, [second]);
  if (name === 'begins_with') checkTypes(name, operands, ['S', 'B']);
  else if (name === 'attribute_type') checkTypeName(second);
  if (name !== 'begins_with' && name !== 'contains' && first?.kind !== 'path') {
    throw new ExpressionError(`Operator or function requires a document path; operator or function: ${name}`);
  }
  return { kind: 'function', name, operands };
}

const WITHOUT_SIZE: ReadonlySet<TypeName> = new Set(['N', 'BOOL', 'NULL']);

export function checkSize(of: Operand): Operand {
  if (of.kind === 'value' && WITHOUT_SIZE.has(typeOf(of.value))) throw wrongType('size', typeOf(of.value));
  return { kind: 'size', of };
}

export function misused(name: string): ExpressionError {
  return new ExpressionError(
    `The function is not allowed to be used this way in an expression; function: ${name}`,
  );
}

export function wrongNumber(name: string, count: number): ExpressionError {
  return new ExpressionError(
    `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${count}`,
  );
}

export function wrongType(name: string, type: string): ExpressionError {
  return new ExpressionError(
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
  );
}

function isConditionFunction(name: string): name is ConditionFunction {
  return Object.hasOwn(NUMBERS_OF_OPERANDS, name);
}

function checkOrdered(name: string, operands: readonly Operand[]): void {
  checkTypes(name, operands, ORDERED);
}

function checkTypes(name: string, operands: readonly Operand[], allowed: Iterable<TypeName>): void {
  const types = new Set(allowed);
  for (const operand of operands) {
    if (operand.kind !== 'value' || types.has(typeOf(operand.value))) continue;
    throw wrongType(name, typeOf(operand.value));
  }
}

function checkTypeName(operand: Operand | undefined): void {
  if (operand?.kind !== 'value') throw wrongType('attribute_type', '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}');
  const { S: name } = operand.value;
  if (name === undefined) throw wrongType('attribute_type', typeOf(operand.value));
  if (isTypeName(name)) return;
  throw new ExpressionError(
    `Invalid attribute type name found; type: ${name}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}`,
  );
}

/** `a = a` is refused as meaningless. */
function checkDistinct(operator: string, first: Operand, others: readonly Operand[]): void {
  if (first.kind !== 'path') return;
  const text = pathText(first.path);
  if (!others.some((other) => other.kind === 'path' && pathText(other.path) === text)) return;
  throw new ExpressionError(
    `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${text}`,
  );
}

function shown(value: AttributeValue): string {
  const type = typeOf(value);
  return `AttributeValue: {${type}:${String(value[type])}}`;
}
