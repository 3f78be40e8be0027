import type { Call } from '../call.ts';
import { constraintError, throughputExceeded, validationError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { checkTableName, Parameters } from '../parameters.ts';
import { type Key, keyOf, keyOfItem } from '../storage/key-schema.ts';
import type { Table } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { readItem } from '../values/read-value.ts';
import { itemBytes } from '../values/size.ts';
import { refuseDuplicates } from './batch.ts';
import { type Operation, returnConsumedCapacity } from './common.ts';

interface Write {
  readonly table: Table;
  readonly key: Key;
  /** Undefined: the item is deleted. */
  readonly item: Item | undefined;
  /** The request, to be returned as unprocessed. */
  readonly sent: unknown;
}

/** Puts and deletes, each separately and without a condition: the batch is not atomic. */
export const batchWriteItem: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['RequestItems', 'ReturnConsumedCapacity', 'ReturnItemCollectionMetrics']);
  const returns = returnConsumedCapacity(parameters);
  const tables = Object.entries(parameters.requiredMap('RequestItems'));
  checkCounts(tables.map(([, requests]) => (Array.isArray(requests) ? requests.length : 0)));
  const writes = tables.flatMap(([tableName, requests]) => readRequests(call, tableName, requests));
  const unprocessed: Record<string, unknown[]> = Object.create(null);
  let unprocessedCount = 0;
  for (const write of writes) {
    if (perform(call, write)) continue;
    unprocessedCount += 1;
    const { name } = write.table;
    unprocessed[name] = [...(unprocessed[name] ?? []), write.sent];
  }
  if (unprocessedCount === writes.length) throw throughputExceeded();
  return { UnprocessedItems: unprocessed, ...call.usage.consumedByTable(returns) };
};

/** False if it was not processed. */
function perform(call: Call, { table, key, item }: Write): boolean {
  if (!call.takes(table, key, 'write')) return false;
  call.write(table, key, table.get(key), item);
  return true;
}

function readRequests(call: Call, tableName: string, requests: unknown): readonly Write[] {
  checkTableName(tableName);
  const table = call.tables.get(tableName);
  const writes = new Parameters({ requests }).list('requests').map((request) => readWrite(table, request));
  refuseDuplicates(writes.map(({ key }) => key));
  return writes;
}

function readWrite(table: Table, sent: unknown): Write {
  const request = new Parameters(sent);
  request.refuseBeyond(['PutRequest', 'DeleteRequest']);
  const [put, deletion] = [request.map('PutRequest'), request.map('DeleteRequest')];
  if ((put === undefined) === (deletion === undefined)) {
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  }
  if (put === undefined) {
    const key = keyOf(table.schema, readItem(new Parameters(deletion).requiredMap('Key')));
    return { table, key, item: undefined, sent };
  }
  const item = readItem(new Parameters(put).requiredMap('Item'));
  const key = keyOfItem(table.schema, item);
  if (itemBytes(item) > LIMITS.itemBytesMax) {
    throw validationError('Item size has exceeded the maximum allowed size');
  }
  return { table, key, item, sent };
}

function checkCounts(counts: readonly number[]): void {
  const max = LIMITS.batchWriteItemsMax;
  if (counts.length === 0) {
    throw constraintError('{}', 'requestItems', 'Member must have length greater than or equal to 1');
  }
  if (counts.some((count) => count === 0 || count > max)) {
    throw constraintError(
      `{${counts.join(', ')}}`,
      'requestItems',
      `Map value must satisfy constraint: [Member must have length less than or equal to ${max}, Member must have length greater than or equal to 1]`,
    );
  }
  if (counts.reduce((sum, count) => sum + count) > max) {
    throw validationError('Too many items requested for the BatchWriteItem call');
  }
}
