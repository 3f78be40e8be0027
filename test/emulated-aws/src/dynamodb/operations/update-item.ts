import { invalidValue } from '../errors.ts';
import { applyUpdate } from '../expressions/apply-update.ts';
import { Expressions } from '../expressions/expressions.ts';
import { project } from '../expressions/projection.ts';
import type { Update } from '../expressions/update.ts';
import { type Key, type KeySchema, keyAttributesOf } from '../storage/key-schema.ts';
import type { Item } from '../values/attribute-value.ts';
import { type Operation, readKey } from './common.ts';
import {
  answerWrite,
  checkItemBytes,
  type ReturnValues,
  readWriteRequest,
  writeIf,
} from './conditional-write.ts';

/** Without an UpdateExpression it creates an item with only its key, if there is none. */
export const updateItem: Operation = (call, sent) => {
  const request = readWriteRequest(sent, ['Key', 'UpdateExpression']);
  const { parameters, returnValues } = request;
  const expressions = new Expressions(parameters, ['UpdateExpression', 'ConditionExpression']);
  const update = expressions.update() ?? [];
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  refuseKeyChange(table.schema, update);
  const change = changeOf(update, key);
  const { before, after } = writeIf(call, request, { table, key, condition, change });
  return answerWrite(call, request, attributesOf(returnValues, update, before, after));
};

function attributesOf(
  returnValues: ReturnValues,
  update: Update,
  before: Item | undefined,
  after: Item | undefined,
): Item | undefined {
  const paths = update.map(({ path }) => path);
  switch (returnValues) {
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

/** From the item before to the item after. */
export function changeOf(update: Update, key: Key): (before: Item | undefined) => Item {
  return (before) => {
    const after = applyUpdate(update, before ?? key.attributes);
    checkItemBytes(after, 'Item size to update has exceeded the maximum allowed size');
    return after;
  };
}

export function refuseKeyChange(schema: KeySchema, update: Update): void {
  for (const { name } of keyAttributesOf(schema)) {
    if (!update.some(({ path }) => path[0] === name)) continue;
    throw invalidValue(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
}
