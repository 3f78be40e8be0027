import { Expressions } from '../expressions/expressions.ts';
import { type Operation, readKey } from './common.ts';
import { answerWrite, readWriteRequest, refuseUpdatedValues, writeIf } from './conditional-write.ts';

export const deleteItem: Operation = (call, sent) => {
  const request = readWriteRequest(sent, ['Key']);
  const { parameters, returnValues } = request;
  refuseUpdatedValues(request);
  const expressions = new Expressions(parameters, ['ConditionExpression']);
  const condition = expressions.condition('ConditionExpression');
  expressions.finish();
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  const { before } = writeIf(call, request, { table, key, condition, change: () => undefined });
  return answerWrite(call, request, returnValues === 'ALL_OLD' ? before : undefined);
};
