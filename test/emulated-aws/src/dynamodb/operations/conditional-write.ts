import type { Call } from '../call.ts';
import { conditionFailed, transactionConflict, validationError } from '../errors.ts';
import type { Condition } from '../expressions/condition.ts';
import { holds } from '../expressions/evaluate-condition.ts';
import { LIMITS } from '../limits.ts';
import { Parameters } from '../parameters.ts';
import type { Key } from '../storage/key-schema.ts';
import type { Table } from '../storage/table.ts';
import { type ReturnConsumedCapacity, writeUnits } from '../usage.ts';
import type { Item } from '../values/attribute-value.ts';
import { itemBytes } from '../values/size.ts';
import { COMMON, returnConsumedCapacity } from './common.ts';

const PARAMETERS = [
  ...COMMON,
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnItemCollectionMetrics',
  'ReturnValues',
  'ReturnValuesOnConditionCheckFailure',
];

const RETURN_VALUES = ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'] as const;

export type ReturnValues = (typeof RETURN_VALUES)[number];

/** The parameters that PutItem, UpdateItem and DeleteItem share, read before anything takes effect. */
export interface WriteRequest {
  readonly parameters: Parameters;
  readonly returnValues: ReturnValues;
  readonly returnsBlocking: boolean;
  readonly returns: ReturnConsumedCapacity;
}

export function readWriteRequest(sent: unknown, own: readonly string[]): WriteRequest {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond([...PARAMETERS, ...own]);
  // Tables of the emulator have no local indexes, so there are never collection metrics to return.
  parameters.oneOf('ReturnItemCollectionMetrics', ['NONE', 'SIZE']);
  const onFailure = parameters.oneOf('ReturnValuesOnConditionCheckFailure', ['NONE', 'ALL_OLD']);
  return {
    parameters,
    returnValues: parameters.oneOf('ReturnValues', RETURN_VALUES),
    returnsBlocking: onFailure === 'ALL_OLD',
    returns: returnConsumedCapacity(parameters),
  };
}

/** Refuses return values that PutItem and DeleteItem do not have. */
export function refuseUpdatedValues({ returnValues }: WriteRequest): void {
  if (returnValues === 'NONE' || returnValues === 'ALL_OLD') return;
  throw validationError('ReturnValues can only be ALL_OLD or NONE');
}

export interface ConditionalWrite {
  readonly table: Table;
  readonly key: Key;
  readonly condition: Condition | undefined;
  /** Returns the new item for the old one; undefined: it is deleted. */
  readonly change: (before: Item | undefined) => Item | undefined;
}

/** The item before and after. Throws ConditionalCheckFailedException, which costs what the item there would have. */
export function writeIf(
  call: Call,
  { returnsBlocking }: WriteRequest,
  { table, key, condition, change }: ConditionalWrite,
): { readonly before: Item | undefined; readonly after: Item | undefined } {
  if (call.conflicts()) throw transactionConflict();
  call.enter(table, key.partition, 'write');
  const before = table.get(key);
  if (condition !== undefined && !holds(condition, before?.item)) {
    call.countWrite(table, key.partition, writeUnits(before?.bytes ?? 0, 0));
    throw conditionFailed(returnsBlocking ? before?.item : undefined);
  }
  const after = change(before?.item);
  call.write(table, key, before, after);
  return { before: before?.item, after };
}

export function answerWrite(call: Call, { returns }: WriteRequest, attributes: Item | undefined): object {
  const hasAttributes = attributes !== undefined && Object.keys(attributes).length > 0;
  return { ...(hasAttributes && { Attributes: attributes }), ...call.usage.consumed(returns) };
}

export function checkItemBytes(item: Item, otherwise: string): void {
  if (itemBytes(item) > LIMITS.itemBytesMax) throw validationError(otherwise);
}
