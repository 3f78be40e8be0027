import { Expressions } from '../expressions/expressions.ts';
import { project } from '../expressions/projection.ts';
import { Parameters } from '../parameters.ts';
import { COMMON, type Operation, readKey, returnConsumedCapacity } from './common.ts';

const PARAMETERS = [...COMMON, 'Key', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames'];

export const getItem: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(PARAMETERS);
  const returns = returnConsumedCapacity(parameters);
  const expressions = new Expressions(parameters, ['ProjectionExpression']);
  const projection = expressions.projection();
  expressions.finish();
  const isConsistent = parameters.boolean('ConsistentRead');
  const table = call.tables.get(parameters.tableName());
  const key = readKey(parameters, table);
  call.enter(table, key.partition, 'read');
  const item = call.get(table, key, isConsistent)?.item;
  return {
    ...(item !== undefined && { Item: projection === undefined ? item : project(item, projection) }),
    ...call.usage.consumed(returns),
  };
};
