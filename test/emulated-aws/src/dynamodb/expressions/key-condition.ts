import { validationError } from '../errors.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import type { Comparator, Condition, Operand } from './condition.ts';

export type KeyComparator = Exclude<Comparator, '<>'> | 'between' | 'begins_with';

/** The condition of a KeyConditionExpression on one attribute of the key. */
export interface KeyClause {
  readonly comparator: KeyComparator;
  /** Two for BETWEEN, else one. */
  readonly values: readonly [AttributeValue, ...AttributeValue[]];
}

/** The clauses of a key condition by the names of attributes. Throws a ValidationException for anything more. */
export function keyClausesOf(condition: Condition): ReadonlyMap<string, KeyClause> {
  const clauses = new Map<string, KeyClause>();
  collect(condition, clauses);
  if (clauses.size > 2) throw validationError('Conditions can be of length 1 or 2 only');
  return clauses;
}

function collect(condition: Condition, clauses: Map<string, KeyClause>): void {
  if (condition.kind === 'and') {
    collect(condition.left, clauses);
    collect(condition.right, clauses);
    return;
  }
  const [name, clause] = clauseOf(condition);
  if (clauses.has(name)) {
    throw validationError('KeyConditionExpressions must only contain one condition per key');
  }
  clauses.set(name, clause);
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

function clauseOf(condition: Condition): [string, KeyClause] {
  switch (condition.kind) {
    case 'compare': {
      const { comparator, left, right } = condition;
      if (comparator === '<>') throw invalidOperator('<>');
      const isMirrored = left.kind === 'value';
      const [name, value] = isMirrored ? [nameOf(right), left.value] : [nameOf(left), literal(right)];
      return [name, { comparator: isMirrored ? MIRRORED[comparator] : comparator, values: [value] }];
    }
    case 'between': {
      if (condition.operand.kind !== 'path') throw keyFirst('BETWEEN');
      const values = [literal(condition.low), literal(condition.high)] as const;
      return [nameOf(condition.operand), { comparator: 'between', values }];
    }
    case 'function': {
      if (condition.name !== 'begins_with') throw invalidOperator(condition.name);
      const [key, prefix] = condition.operands;
      if (key?.kind !== 'path') throw keyFirst('begins_with');
      return [nameOf(key), { comparator: 'begins_with', values: [literal(prefix)] }];
    }
    default:
      throw invalidOperator(condition.kind.toUpperCase());
  }
}

function nameOf(operand: Operand): string {
  if (operand.kind === 'size') throw nested();
  if (operand.kind === 'value') {
    throw validationError('Invalid condition in KeyConditionExpression: No key attribute specified');
  }
  if (operand.path.length > 1) {
    throw validationError('KeyConditionExpressions cannot have conditions on nested attributes');
  }
  return operand.path[0];
}

function literal(operand: Operand | undefined): AttributeValue {
  if (operand?.kind === 'value') return operand.value;
  if (operand?.kind === 'size') throw nested();
  throw validationError(
    'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition',
  );
}

function nested() {
  return validationError('KeyConditionExpressions cannot contain nested operations');
}

function invalidOperator(operator: string) {
  return validationError(`Invalid operator used in KeyConditionExpression: ${operator}`);
}

function keyFirst(operator: string) {
  return validationError(
    `Invalid condition in KeyConditionExpression: ${operator} operator must have the key attribute as its first operand`,
  );
}
