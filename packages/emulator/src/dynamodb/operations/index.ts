import { batchGetItem } from './batch-get-item.ts';
import { batchWriteItem } from './batch-write-item.ts';
import type { Operation } from './common.ts';
import { getItem } from './get-item.ts';
import { query } from './query.ts';
import { scan } from './scan.ts';
import { createTable, describeTable, describeTimeToLive, updateTimeToLive } from './tables.ts';
import { deleteItem, putItem, updateItem } from './write-item.ts';

/** By name, as in `X-Amz-Target`. Any other is answered UnknownOperationException. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['BatchGetItem', batchGetItem],
  ['BatchWriteItem', batchWriteItem],
  ['CreateTable', createTable],
  ['DeleteItem', deleteItem],
  ['DescribeTable', describeTable],
  ['DescribeTimeToLive', describeTimeToLive],
  ['GetItem', getItem],
  ['PutItem', putItem],
  ['Query', query],
  ['Scan', scan],
  ['UpdateItem', updateItem],
  ['UpdateTimeToLive', updateTimeToLive],
]);
