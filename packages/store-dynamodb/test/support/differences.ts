import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';

type Ask = (client: DynamoDBClient, TableName: string) => Promise<unknown>;

/** A question that MiniStack 1.5.33 answers otherwise than DynamoDB's documentation. */
export interface Difference {
  readonly what: string;
  readonly ask: Ask;
  /** As documented, and as the one in memory has it. */
  readonly documented: unknown;
  readonly ministack: unknown;
}

const REFUSED = 'ValidationException';
const DONE = 'done';
const ONE = { ':v': { N: '1' } };
const key = (s: string) => ({ p: { S: 'p' }, s: { S: s } });

const update =
  (UpdateExpression: string, more: Partial<UpdateItemCommandInput> = {}): Ask =>
  async (client, TableName) => {
    await client.send(
      new PutItemCommand({
        TableName,
        Item: { ...key('u'), text: { S: 'x' }, n: { N: '5' }, l: { L: ['a', 'b', 'c'].map((S) => ({ S })) } },
      }),
    );
    const Key = key('u');
    const input = { TableName, Key, UpdateExpression, ReturnValues: 'ALL_NEW' as const, ...more };
    const { Attributes } = await client.send(new UpdateItemCommand(input));
    return Attributes?.l?.L?.map(({ S }) => S).join('') === 'abc' ? DONE : Attributes?.l?.L;
  };

/** Four items of 300 KB under one partition key. */
const large =
  (ask: Ask): Ask =>
  async (client, TableName) => {
    for (const s of ['1', '2', '3', '4']) {
      const Item = { ...key(s), x: { S: 'x'.repeat(300_000) } };
      await client.send(new PutItemCommand({ TableName, Item }));
    }
    return await ask(client, TableName);
  };

const batch: Ask = async (client, TableName) => {
  const Keys = ['1', '2', '3', '4'].map(key);
  const RequestItems = { [TableName]: { Keys, ConsistentRead: true } };
  const command = new BatchGetItemCommand({ RequestItems, ReturnConsumedCapacity: 'TOTAL' });
  const { Responses, UnprocessedKeys, ConsumedCapacity } = await client.send(command);
  return {
    read: Responses?.[TableName]?.length,
    unprocessed: UnprocessedKeys?.[TableName]?.Keys?.length,
    units: ConsumedCapacity?.[0]?.CapacityUnits,
  };
};

const query =
  (more: Partial<QueryCommandInput>): Ask =>
  async (client, TableName) => {
    const KeyConditionExpression = 'p = :p AND s < :s';
    const ExpressionAttributeValues = { ':p': { S: 'p' }, ':s': { S: '3' } };
    const input = {
      TableName,
      KeyConditionExpression,
      ExpressionAttributeValues,
      ConsistentRead: true,
      ...more,
    };
    const { ConsumedCapacity } = await client.send(
      new QueryCommand({ ...input, ReturnConsumedCapacity: 'TOTAL' }),
    );
    return ConsumedCapacity?.CapacityUnits;
  };

const get: Ask = async (client, TableName) => {
  const input = { TableName, Key: key('1'), ConsistentRead: true, ReturnConsumedCapacity: 'TOTAL' as const };
  const { ConsumedCapacity } = await client.send(new GetItemCommand(input));
  return ConsumedCapacity?.CapacityUnits;
};

const LEFT = (...texts: string[]) => texts.map((S) => ({ S }));

export const DIFFERENCES: readonly Difference[] = [
  {
    what: 'two paths of an update of which one begins with the other',
    ask: update('SET x = :v REMOVE x.y', { ExpressionAttributeValues: ONE }),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'a section of an update twice',
    ask: update('SET x = :v SET y = :v', { ExpressionAttributeValues: ONE }),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'ADD to an attribute of a map that is not there',
    ask: update('ADD x.y :v', { ExpressionAttributeValues: ONE }),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'REMOVE of an element of no list',
    ask: update('REMOVE x[0]'),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'a sum with what is no number',
    ask: update('SET n = #t + :v', {
      ExpressionAttributeNames: { '#t': 'text' },
      ExpressionAttributeValues: ONE,
    }),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'two elements of a list removed at once: both indexes mean the list as it was',
    ask: update('REMOVE l[0], l[2]'),
    documented: LEFT('b'),
    ministack: LEFT('b', 'c'),
  },
  {
    what: 'an operand compared with itself',
    ask: update('REMOVE x', { ConditionExpression: 'n = n' }),
    documented: REFUSED,
    ministack: DONE,
  },
  {
    what: 'a filter that names the key',
    ask: query({ FilterExpression: 'attribute_exists(s)' }),
    documented: REFUSED,
    ministack: 1,
  },
  {
    what: 'a batch that reads more than a megabyte of one partition, and its units',
    ask: large(batch),
    documented: { read: 3, unprocessed: 1, units: 3 * 74 },
    ministack: { read: 4, unprocessed: undefined, units: undefined },
  },
  { what: 'the units of a query', ask: large(query({})), documented: 147, ministack: 1 },
  { what: 'the units of a read of 300 KB', ask: large(get), documented: 74, ministack: 1 },
];
