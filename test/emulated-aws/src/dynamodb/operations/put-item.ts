import { Expressions } from '../expressions/expressions.ts';
import { keyOfItem } from '../storage/key-schema.ts';
import { readItem } from '../values/read-value.ts';
import type { Operation } from './common.ts';
import {
  answerWrite,
  checkItemBytes,
  readWriteRequest,
  refuseUpdatedValues,
  writeIf,
} from './conditional-write.ts';

export const putItem: Operation = (call, sent) => {
  const request = readWriteRequest(sent, ['Item']);
  const { parameters, returnValues } = request;
  const item = readItem(parameters.requiredMap('Item'));
  refuseUpdatedValues(request);
  checkItemBytes(item, 'Item size has exceeded the maximum allowed size');
  const expressions = new Expressions(parameters, ['ConditionExpression']);
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const table = call.tables.get(parameters.tableName());
  const key = keyOfItem(table.schema, item);
  const { before } = writeIf(call, request, { table, key, condition, change: () => item });
  return answerWrite(call, request, returnValues === 'ALL_OLD' ? before : undefined);
};
