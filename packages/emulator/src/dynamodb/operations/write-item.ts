import type { Call } from '../call.ts';
import { conditionFailed, invalidValue, validationError } from '../errors.ts';
import { applyUpdate } from '../expressions/apply-update.ts';
import type { Condition } from '../expressions/condition.ts';
import { holds } from '../expressions/evaluate-condition.ts';
import { Expressions } from '../expressions/expressions.ts';
import { project } from '../expressions/projection.ts';
import type { Update } from '../expressions/update.ts';
import { LIMITS } from '../limits.ts';
import { Parameters } from '../parameters.ts';
import { type Key, type KeySchema, keyAttributesOf, keyOfItem } from '../storage/key-schema.ts';
import type { Stored } from '../storage/partition.ts';
import type { Table } from '../storage/table.ts';
import { writeUnits } from '../usage.ts';
import type { Item } from '../values/attribute-value.ts';
import { readItem } from '../values/read-value.ts';
import { itemBytes } from '../values/size.ts';
import { COMMON, type Operation, readKey, returnConsumedCapacity } from './common.ts';

const WRITE_PARAMETERS = [
  ...COMMON,
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
  'ReturnItemCollectionMetrics',
  'ReturnValuesOnConditionCheckFailure',
];

export const putItem: Operation = (call, sent) => {
  const parameters = readParameters(sent, ['Item']);
  const item = readItem(parameters.requiredMap('Item'));
  checkItemBytes(item, 'Item size has exceeded the maximum allowed size');
  const expressions = new Expressions(parameters, ['ConditionExpression']);
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const returnsOld = oldOrNothing(parameters);
  const table = call.tables.get(parameters.tableName());
  const key = keyOfItem(table.schema, item);
  const before = writeIf(call, parameters, { table, key, condition, change: () => item });
  return answer(call, parameters, returnsOld ? before : undefined);
};

export const deleteItem: Operation = (call, sent) => {
  const parameters = readParameters(sent, ['Key']);
  const expressions = new Expressions(parameters, ['ConditionExpression']);
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const returnsOld = oldOrNothing(parameters);
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  const before = writeIf(call, parameters, { table, key, condition, change: () => undefined });
  return answer(call, parameters, returnsOld ? before : undefined);
};

export const updateItem: Operation = (call, sent) => {
  const parameters = readParameters(sent, ['Key', 'UpdateExpression']);
  const expressions = new Expressions(parameters, ['UpdateExpression', 'ConditionExpression']);
  const update = expressions.update() ?? [];
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  refuseKeyChange(table.schema, update);
  let after: Item | undefined;
  const change = (before: Item | undefined) => {
    after = applyUpdate(update, before ?? key.attributes);
    checkItemBytes(after, 'Item size to update has exceeded the maximum allowed size');
    return after;
  };
  const before = writeIf(call, parameters, { table, key, condition, change });
  return answer(call, parameters, updatedAttributes(parameters, update, before, after));
};

interface ConditionalWrite {
  readonly table: Table;
  readonly key: Key;
  readonly condition: Condition | undefined;
  /** From the item before to the item after; undefined: it is deleted. */
  readonly change: (before: Item | undefined) => Item | undefined;
}

/** Writes where the condition holds, and gives what stood there before. Throws ConditionalCheckFailedException. */
function writeIf(call: Call, parameters: Parameters, write: ConditionalWrite): Item | undefined {
  const { table, key, condition } = write;
  const returnsBlocking =
    parameters.oneOf('ReturnValuesOnConditionCheckFailure', ['NONE', 'ALL_OLD']) === 'ALL_OLD';
  call.enter(table, key.partition, 'write');
  const before = table.get(key);
  if (condition !== undefined && !holds(condition, before?.item)) {
    failCondition(call, write, before, returnsBlocking);
  }
  call.write(table, key, before, write.change(before?.item));
  return before?.item;
}

/** A write that its condition prevents consumes what the item that stands there would have. */
function failCondition(
  call: Call,
  { table, key }: ConditionalWrite,
  before: Stored | undefined,
  returnsBlocking: boolean,
): never {
  call.countWrite(table, key.partition, writeUnits(before?.bytes ?? 0, 0));
  throw conditionFailed(returnsBlocking ? before?.item : undefined);
}

function readParameters(sent: unknown, own: readonly string[]): Parameters {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond([...WRITE_PARAMETERS, ...own]);
  parameters.oneOf('ReturnItemCollectionMetrics', ['NONE', 'SIZE']);
  return parameters;
}

const RETURN_VALUES = ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'] as const;

function oldOrNothing(parameters: Parameters): boolean {
  const returnValues = parameters.oneOf('ReturnValues', RETURN_VALUES);
  if (returnValues === 'NONE' || returnValues === 'ALL_OLD') return returnValues === 'ALL_OLD';
  throw validationError('ReturnValues can only be ALL_OLD or NONE');
}

function updatedAttributes(
  parameters: Parameters,
  update: Update,
  before: Item | undefined,
  after: Item | undefined,
): Item | undefined {
  const paths = update.map(({ path }) => path);
  switch (parameters.oneOf('ReturnValues', RETURN_VALUES)) {
    case 'NONE':
      return undefined;
    case 'ALL_OLD':
      return before;
    case 'ALL_NEW':
      return after;
    case 'UPDATED_OLD':
      return before && project(before, paths);
    case 'UPDATED_NEW':
      return after && project(after, paths);
  }
}

function answer(call: Call, parameters: Parameters, attributes: Item | undefined): object {
  const hasAttributes = attributes !== undefined && Object.keys(attributes).length > 0;
  return {
    ...(hasAttributes && { Attributes: attributes }),
    ...call.usage.consumed(returnConsumedCapacity(parameters)),
  };
}

function checkItemBytes(item: Item, otherwise: string): void {
  if (itemBytes(item) > LIMITS.itemBytesMax) throw validationError(otherwise);
}

function refuseKeyChange(schema: KeySchema, update: Update): void {
  for (const { name } of keyAttributesOf(schema)) {
    if (!update.some(({ path }) => path[0] === name)) continue;
    throw invalidValue(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
}
