import { invalidValue, validationError } from '../errors.ts';
import type { KeyClause } from '../expressions/key-condition.ts';
import { emptyKeyError, type KeyAttribute, type KeySchema, partitionText } from '../storage/key-schema.ts';
import { compareSortKeys, type Partition, partitionPoint, type Stored } from '../storage/partition.ts';
import type { AttributeValue } from '../values/attribute-value.ts';

/** The range that a query reads: a partition, and a range of its sort keys. */
export interface KeyRange {
  readonly partition: string;
  /** Undefined: all of them. */
  readonly sort: KeyClause | undefined;
}

/** Fits the clauses of a key condition to a table's key. Throws a ValidationException. */
export function keyRangeOf(schema: KeySchema, clauses: ReadonlyMap<string, KeyClause>): KeyRange {
  const { partition, sort } = schema;
  if (sort === undefined && clauses.size > 1) throw validationError('Query key condition not supported');
  const clause = clauses.get(partition.name);
  if (clause === undefined) throw missedElement(partition.name);
  checkValues(clause, partition);
  if (clause.comparator !== '=') throw validationError('Query key condition not supported');
  const sortClause = sort && clauses.get(sort.name);
  if (sort !== undefined && clauses.size > 1 && sortClause === undefined) throw missedElement(sort.name);
  if (sort !== undefined && sortClause !== undefined) checkValues(sortClause, sort);
  return { partition: partitionText(clause.values[0]), sort: sortClause };
}

/** The items of the range, from `after` on where there is one, forward or backward. */
export function* itemsInRange(
  { items }: Partition,
  clause: KeyClause | undefined,
  isForward: boolean,
  after: AttributeValue | undefined,
): Iterable<Stored> {
  let [start, end] = boundsOf(items, clause);
  if (after !== undefined && isForward) {
    start = Math.max(
      start,
      partitionPoint(items, 0, ({ sort }) => compareSortKeys(sort, after) <= 0),
    );
  } else if (after !== undefined) {
    end = Math.min(
      end,
      partitionPoint(items, 0, ({ sort }) => compareSortKeys(sort, after) < 0),
    );
  }
  for (let step = 0; step < end - start; step += 1) {
    const stored = items[isForward ? start + step : end - 1 - step];
    if (stored !== undefined) yield stored;
  }
}

export function isWithin(clause: KeyClause, sort: AttributeValue): boolean {
  const [first, second] = clause.values;
  const order = compareSortKeys(sort, first);
  switch (clause.comparator) {
    case '=':
      return order === 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case 'between':
      return order >= 0 && compareSortKeys(sort, second) <= 0;
    case 'begins_with':
      return beginsWith(sort, first);
  }
}

/** The items that match a clause are contiguous: returns their beginning and end. */
function boundsOf(items: readonly Stored[], clause: KeyClause | undefined): [number, number] {
  if (clause === undefined) return [0, items.length];
  const { comparator, values } = clause;
  const isBefore = ({ sort }: Stored) => {
    const order = compareSortKeys(sort, values[0]);
    return comparator === '>' ? order <= 0 : order < 0;
  };
  const start = comparator === '<' || comparator === '<=' ? 0 : partitionPoint(items, 0, isBefore);
  const end = partitionPoint(items, start, ({ sort }) => sort !== undefined && isWithin(clause, sort));
  return [start, end];
}

function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if (value.S !== undefined && prefix.S !== undefined) return value.S.startsWith(prefix.S);
  if (value.B === undefined || prefix.B === undefined) return false;
  const bytes = Buffer.from(prefix.B, 'base64');
  return Buffer.from(value.B, 'base64').subarray(0, bytes.length).equals(bytes);
}

function checkValues({ comparator, values }: KeyClause, { name, type }: KeyAttribute): void {
  if (comparator === 'begins_with' && type === 'N') {
    throw validationError(
      'Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
    );
  }
  if (values.some((value) => value[type] === undefined)) {
    throw invalidValue('Condition parameter type does not match schema type');
  }
  if (values.some(({ S, B }) => S === '' || B === '')) throw emptyKeyError(name, type);
}

function missedElement(name: string) {
  return validationError(`Query condition missed key schema element: ${name}`);
}
