import type { Call } from '../call.ts';
import { validationError } from '../errors.ts';
import { Expressions } from '../expressions/expressions.ts';
import { Parameters } from '../parameters.ts';
import { keyOfItem } from '../storage/key-schema.ts';
import type { Item } from '../values/attribute-value.ts';
import { readItem } from '../values/read-value.ts';
import { readKey } from './common.ts';
import { type ConditionalWrite, checkItemBytes } from './conditional-write.ts';
import { changeOf, refuseKeyChange } from './update-item.ts';

const COMMON = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
];

/** One action of a transaction. A check leaves the item as it is. */
export interface Action extends ConditionalWrite {
  readonly isCheck: boolean;
  readonly returnsBlocking: boolean;
}

const READERS = { Put: readPut, Update: readUpdate, Delete: readDelete, ConditionCheck: readCheck } as const;
const NAMES = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const;

/** Throws DynamoDB's error for an invalid action. */
export function readAction(call: Call, sent: unknown): Action {
  const member = new Parameters(sent);
  member.refuseBeyond(NAMES);
  const given = NAMES.filter((name) => member.map(name) !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete');
  }
  const parameters = new Parameters(member.map(name));
  const action = READERS[name](call, parameters);
  const onFailure = parameters.oneOf('ReturnValuesOnConditionCheckFailure', ['NONE', 'ALL_OLD']);
  return { ...action, isCheck: name === 'ConditionCheck', returnsBlocking: onFailure === 'ALL_OLD' };
}

function readPut(call: Call, parameters: Parameters): ConditionalWrite {
  parameters.refuseBeyond([...COMMON, 'Item']);
  const item = readItem(parameters.requiredMap('Item'));
  checkItemBytes(item, 'Item size has exceeded the maximum allowed size');
  const condition = readCondition(parameters);
  const table = call.tables.get(parameters.tableName());
  return { table, key: keyOfItem(table.schema, item), condition, change: () => item };
}

function readDelete(call: Call, parameters: Parameters): ConditionalWrite {
  parameters.refuseBeyond([...COMMON, 'Key']);
  const condition = readCondition(parameters);
  const table = call.tables.get(parameters.tableName());
  return { table, key: readKey(parameters, table), condition, change: () => undefined };
}

function readCheck(call: Call, parameters: Parameters): ConditionalWrite {
  // A check without a condition would be useless.
  if (parameters.text('ConditionExpression') === undefined) {
    throw validationError('The expression can not be empty;');
  }
  const write = readDelete(call, parameters);
  return { ...write, change: (before: Item | undefined) => before };
}

function readUpdate(call: Call, parameters: Parameters): ConditionalWrite {
  parameters.refuseBeyond([...COMMON, 'Key', 'UpdateExpression']);
  const expressions = new Expressions(parameters, ['UpdateExpression', 'ConditionExpression']);
  const update = expressions.update();
  if (update === undefined) throw validationError('The expression can not be empty;');
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  refuseKeyChange(table.schema, update);
  return { table, key, condition, change: changeOf(update, key) };
}

function readCondition(parameters: Parameters) {
  const expressions = new Expressions(parameters, ['ConditionExpression']);
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  return condition;
}
