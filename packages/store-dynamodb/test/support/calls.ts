import { createHash } from 'node:crypto';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { RandomCall } from './random-calls.ts';

/** The result or error of a call, in a form in which two services can be compared. */
export async function outcomeOf(
  client: DynamoDBClient,
  TableName: string,
  call: RandomCall,
): Promise<unknown> {
  try {
    return comparable(await send(client, TableName, call));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // How a refusal is worded is a matter of its own.
    const { Item, CancellationReasons } = error as { Item?: unknown; CancellationReasons?: object[] };
    const reasons = CancellationReasons?.map((reason) => ({ ...reason, Message: undefined }));
    return comparable({ error: error.name, Item, reasons });
  }
}

async function send(client: DynamoDBClient, TableName: string, call: RandomCall): Promise<object> {
  switch (call.operation) {
    case 'PutItem':
      return await client.send(new PutItemCommand({ TableName, ...call.input } as PutItemCommandInput));
    case 'UpdateItem':
      return await client.send(new UpdateItemCommand({ TableName, ...call.input } as UpdateItemCommandInput));
    case 'DeleteItem':
      return await client.send(new DeleteItemCommand({ TableName, ...call.input } as UpdateItemCommandInput));
    case 'GetItem':
      return await client.send(new GetItemCommand({ TableName, ...call.input } as UpdateItemCommandInput));
    case 'Query':
      return await client.send(new QueryCommand({ TableName, ...call.input } as QueryCommandInput));
    case 'BatchGetItem': {
      const RequestItems = { [TableName]: { Keys: [...call.keys], ConsistentRead: true } };
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }));
      const items = (Responses?.[TableName] ?? []).map((item) => JSON.stringify(comparable(item)));
      return { items: items.sort(), UnprocessedKeys };
    }
    case 'BatchWriteItem': {
      const puts = call.puts.map((Item) => ({ PutRequest: { Item } }));
      const deletes = call.deletes.map((Key) => ({ DeleteRequest: { Key } }));
      const RequestItems = { [TableName]: [...puts, ...deletes] };
      return await client.send(new BatchWriteItemCommand({ RequestItems }));
    }
    case 'TransactWriteItems': {
      const { actions, token, isRepeated } = call;
      const TransactItems = actions.map(({ name, input }) => ({ [name]: { TableName, ...input } }));
      // Not over the tests of one table: tokens belong to the account.
      const ClientRequestToken = token === undefined ? undefined : hashOf(`${TableName} ${token}`);
      const transact = async () =>
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: TransactItems as TransactWriteItem[],
            ClientRequestToken,
            ReturnConsumedCapacity: 'TOTAL',
          }),
        );
      if (isRepeated) await transact();
      const { ConsumedCapacity } = await transact();
      return { units: ConsumedCapacity?.map(({ CapacityUnits }) => CapacityUnits) };
    }
  }
}

function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 36);
}

/** Without what is never alike: metadata, the order of attributes and of members of a set. */
export function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, each]) => name !== '$metadata' && each !== undefined);
  return Object.fromEntries(
    entries
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [
        name,
        name === 'SS' && Array.isArray(each) ? [...each].sort() : comparable(each),
      ]),
  );
}
