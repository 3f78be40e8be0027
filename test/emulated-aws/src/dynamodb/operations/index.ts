import { batchGetItem } from './batch-get-item.ts';
import { batchWriteItem } from './batch-write-item.ts';
import type { Operation } from './common.ts';
import { deleteItem } from './delete-item.ts';
import { getItem } from './get-item.ts';
import { putItem } from './put-item.ts';
import { query } from './query.ts';
import { scan } from './scan.ts';
import { createTable, describeTable, describeTimeToLive, updateTimeToLive } from './tables.ts';
import { transactWriteItems } from './transact-write-items.ts';
import { updateItem } from './update-item.ts';

/** The operations that set up a table. Faults do not strike them: a test begins with them. */
export const CONTROL_PLANE: ReadonlySet<string> = new Set([
  'CreateTable',
  'DescribeTable',
  'DescribeTimeToLive',
  'UpdateTimeToLive',
]);

/** By the name in `X-Amz-Target`. Any other is answered with UnknownOperationException. */
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
  ['TransactWriteItems', transactWriteItems],
  ['UpdateItem', updateItem],
  ['UpdateTimeToLive', updateTimeToLive],
]);
