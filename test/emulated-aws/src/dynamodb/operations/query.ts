import { validationError } from '../errors.ts';
import type { Condition } from '../expressions/condition.ts';
import { Expressions } from '../expressions/expressions.ts';
import { keyClausesOf } from '../expressions/key-condition.ts';
import { Parameters } from '../parameters.ts';
import { type Key, type KeySchema, keyAttributesOf } from '../storage/key-schema.ts';
import { readUnits } from '../usage.ts';
import { COMMON, type Operation, returnConsumedCapacity } from './common.ts';
import { isWithin, itemsInRange, type KeyRange, keyRangeOf } from './key-range.ts';
import { PAGE_PARAMETERS, readPage, readPageOptions } from './read-page.ts';
import { readStartKey } from './start-key.ts';

const PARAMETERS = [...COMMON, ...PAGE_PARAMETERS, 'KeyConditionExpression', 'ScanIndexForward'];
const EXPRESSIONS = ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'];

export const query: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(PARAMETERS);
  const returns = returnConsumedCapacity(parameters);
  const { keyCondition, options } = readExpressions(parameters);
  const table = call.tables.get(parameters.tableName());
  const { schema } = table;
  const range = keyRangeOf(schema, keyClausesOf(keyCondition));
  if (options.filter !== undefined) refuseKeysInFilter(schema, options.filter);
  const startKey = readStartKey(parameters, schema);
  if (startKey !== undefined) checkStartKey(range, startKey);
  call.enter(table, range.partition, 'read');
  const partition = call.view(table, options.isConsistent).partition(range.partition);
  const isForward = parameters.isTrueUnlessSent('ScanIndexForward');
  const items = itemsInRange(partition, range.sort, isForward, startKey?.sort);
  const { answer, bytes } = readPage(items, schema, options);
  call.countRead(table, range.partition, readUnits(bytes, options.isConsistent));
  return { ...answer, ...call.usage.consumed(returns) };
};

function readExpressions(parameters: Parameters) {
  const expressions = new Expressions(parameters, EXPRESSIONS);
  const keyCondition = expressions.condition('KeyConditionExpression');
  if (keyCondition === undefined) {
    throw validationError(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  }
  const options = readPageOptions(parameters, expressions);
  expressions.finish();
  return { keyCondition, options };
}

function checkStartKey({ partition, sort }: KeyRange, startKey: Key): void {
  if (startKey.partition !== partition) {
    throw validationError(
      'The provided starting key is outside query boundaries based on provided conditions',
    );
  }
  if (sort === undefined || startKey.sort === undefined || isWithin(sort, startKey.sort)) return;
  throw validationError('The provided starting key does not match the range key predicate');
}

/** A filter runs after the key condition: it must not name the key again. */
function refuseKeysInFilter(schema: KeySchema, filter: Condition): void {
  const names = namesIn(filter);
  for (const { name } of keyAttributesOf(schema)) {
    if (!names.has(name)) continue;
    throw validationError(
      `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
    );
  }
}

function namesIn(part: unknown): Set<string> {
  const names = new Set<string>();
  visit(part, names);
  return names;
}

function visit(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  if ('kind' in part && part.kind === 'path' && 'path' in part && Array.isArray(part.path)) {
    names.add(String(part.path[0]));
  } else if (!('kind' in part && part.kind === 'value')) {
    for (const child of Object.values(part)) visit(child, names);
  }
}
