import type { Call } from '../call.ts';
import { constraintError, throughputExceeded, validationError } from '../errors.ts';
import { Expressions } from '../expressions/expressions.ts';
import { type Projection, project } from '../expressions/projection.ts';
import { LIMITS } from '../limits.ts';
import { checkTableName, Parameters } from '../parameters.ts';
import { type Key, keyOf } from '../storage/key-schema.ts';
import type { Table } from '../storage/table.ts';
import { readUnits } from '../usage.ts';
import type { Item } from '../values/attribute-value.ts';
import { readItem } from '../values/read-value.ts';
import { refuseDuplicates } from './batch.ts';
import { type Operation, returnConsumedCapacity } from './common.ts';

const TABLE_PARAMETERS = ['Keys', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames'];

interface TableRequest {
  readonly table: Table;
  readonly keys: readonly Key[];
  readonly isConsistent: boolean;
  readonly projection: Projection | undefined;
  /** The key as it was sent, to be returned as unprocessed. */
  readonly sent: object;
}

export const batchGetItem: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['RequestItems', 'ReturnConsumedCapacity']);
  const returns = returnConsumedCapacity(parameters);
  const requests = Object.entries(parameters.requiredMap('RequestItems')).map(([tableName, request]) =>
    readRequest(call, tableName, request),
  );
  checkCount(requests.reduce((sum, { keys }) => sum + keys.length, 0));
  const batch = new Batch(call);
  for (const request of requests) batch.read(request);
  return { ...batch.answer(), ...call.usage.consumedByTable(returns) };
};

/** Reads key by key, as far as its limits allow, in no reliable order. */
class Batch {
  readonly #call: Call;
  readonly #responses: Record<string, readonly Item[]> = Object.create(null);
  readonly #unprocessed: Record<string, object> = Object.create(null);
  /** The bytes that have been read, by table and partition key. */
  readonly #partitionBytes = new Map<string, number>();
  #bytes = 0;
  #isAnyProcessed = false;

  constructor(call: Call) {
    this.#call = call;
  }

  read(request: TableRequest): void {
    const { table, sent } = request;
    const items: Item[] = [];
    const unprocessed = request.keys.filter((key) => !this.#readKey(request, key, items));
    this.#responses[table.name] = this.#call.shuffled(items);
    if (unprocessed.length === 0) return;
    this.#unprocessed[table.name] = { ...sent, Keys: unprocessed.map(({ attributes }) => attributes) };
  }

  answer(): object {
    if (!this.#isAnyProcessed) throw throughputExceeded();
    return { Responses: this.#responses, UnprocessedKeys: this.#unprocessed };
  }

  /** False if it was not processed. */
  #readKey({ table, isConsistent, projection }: TableRequest, key: Key, items: Item[]): boolean {
    if (!this.#call.takes(table, key, 'read')) return false;
    const stored = this.#call.view(table, isConsistent).get(key);
    const bytes = stored?.bytes ?? 0;
    if (!this.#hasRoom(table.name, key.partition, bytes)) return false;
    this.#isAnyProcessed = true;
    this.#call.countRead(table, key.partition, readUnits(bytes, isConsistent));
    if (stored === undefined) return true;
    items.push(projection === undefined ? stored.item : project(stored.item, projection));
    return true;
  }

  /** 16 MB in all, and 1 MB of one partition. */
  #hasRoom(tableName: string, partitionKey: string, bytes: number): boolean {
    const name = `${tableName}\0${partitionKey}`;
    const partitionBytes = (this.#partitionBytes.get(name) ?? 0) + bytes;
    if (partitionBytes > LIMITS.pageBytesMax || this.#bytes + bytes > LIMITS.batchGetBytesMax) return false;
    this.#partitionBytes.set(name, partitionBytes);
    this.#bytes += bytes;
    return true;
  }
}

function readRequest(call: Call, tableName: string, sent: unknown): TableRequest {
  checkTableName(tableName);
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(TABLE_PARAMETERS);
  const keys = parameters.list('Keys').map((key) => readItem(key));
  if (keys.length === 0 || keys.length > LIMITS.batchGetKeysMax) {
    throw constraintError(
      keys.length,
      `requestItems.${tableName}.member.keys`,
      `Member must have length ${
        keys.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${LIMITS.batchGetKeysMax}`
      }`,
    );
  }
  const expressions = new Expressions(parameters, ['ProjectionExpression']);
  const projection = expressions.projection();
  expressions.finish();
  const table = call.tables.get(tableName);
  const request = {
    table,
    keys: keys.map((key) => keyOf(table.schema, key)),
    isConsistent: parameters.boolean('ConsistentRead'),
    projection,
    sent: { ...(sent as object) },
  };
  refuseDuplicates(request.keys);
  return request;
}

function checkCount(count: number): void {
  if (count === 0) {
    throw constraintError('{}', 'requestItems', 'Member must have length greater than or equal to 1');
  }
  if (count <= LIMITS.batchGetKeysMax) return;
  throw validationError('Too many items requested for the BatchGetItem call');
}
