import { BatchGetItemCommand, BatchWriteItemCommand, CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { itemBytes } from '../../src/dynamodb/values/size.ts';
import { itemOf, keyOf, number, startDynamoDb, TABLE, text, type Wire } from './support.ts';

/** An item of exactly so many bytes. */
const sized = (p: string, bytes: number, s = 's') =>
  itemOf(p, s, { x: text('x'.repeat(bytes - 3 - p.length - s.length)) });

const TOTAL = { ReturnConsumedCapacity: 'TOTAL' };
const unitsOf = (answer: Wire) => (answer.ConsumedCapacity as { CapacityUnits: number }).CapacityUnits;

describe('the size of an item', () => {
  it.each<[Wire, number]>([
    [{ S: 'aé€😀' }, 1 + 2 + 3 + 4],
    [{ S: '' }, 0],
    [{ B: 'AAECAw==' }, 4],
    [{ BOOL: true }, 1],
    [{ NULL: true }, 1],
    [{ N: '0' }, 1],
    [{ N: '7' }, 2],
    [{ N: '1234' }, 3],
    [{ N: '12300' }, 3],
    [{ N: '1700000000' }, 2],
    [{ N: '-12' }, 3],
    [{ N: '0.01' }, 2],
    [{ N: '12.5' }, 3],
    [{ N: '1.2' }, 3],
    [{ N: '0.12' }, 2],
    [{ N: '12345678901234567890123456789012345678' }, 20],
    [{ SS: ['a', 'bc'] }, 3],
    [{ NS: ['1', '23'] }, 4],
    [{ BS: ['AA==', 'AAE='] }, 3],
    [{ L: [] }, 3],
    [{ L: [{ S: 'ab' }, { BOOL: true }] }, 3 + 1 + 2 + 1 + 1],
    [{ M: {} }, 3],
    [{ M: { name: { S: 'ab' } } }, 3 + 1 + 4 + 2],
  ])('%j: %i bytes and its name', (value, bytes) => {
    expect(itemBytes({ ä: value })).toBe(2 + bytes);
  });
});

describe('read units', () => {
  it.each<[string, boolean, number]>([
    ['nothing', true, 1],
    ['nothing', false, 0.5],
    ['4096', true, 1],
    ['4096', false, 0.5],
    ['4097', true, 2],
    ['4097', false, 1],
    ['300000', true, 74],
  ])('GetItem of %s, strongly consistent: %s', async (what, ConsistentRead, units) => {
    const { send } = await startDynamoDb();
    if (what !== 'nothing') await send('PutItem', { Item: sized('a', Number(what)) });
    // DynamoDB bills the attributes that a projection leaves out too.
    const projection = { ProjectionExpression: 'p' };
    const answer = await send('GetItem', { Key: keyOf('a'), ConsistentRead, ...projection, ...TOTAL });
    expect(answer.ConsumedCapacity).toEqual({ TableName: TABLE, CapacityUnits: units });
  });

  it('Query: of the sum of all items that it read', async () => {
    const { send } = await startDynamoDb();
    for (let index = 0; index < 10; index += 1)
      await send('PutItem', { Item: sized('a', 1_000, `s${index}`) });
    const values = { ExpressionAttributeValues: { ':p': text('a') } };
    const query = { KeyConditionExpression: 'p = :p', ...values, ...TOTAL };
    expect(unitsOf(await send('Query', { ...query, ConsistentRead: true }))).toBe(3);
    expect(unitsOf(await send('Query', query))).toBe(1.5);
    const nothing = { FilterExpression: 'attribute_exists(y)' };
    expect(unitsOf(await send('Query', { ...query, ...nothing, ConsistentRead: true }))).toBe(3);
    expect(unitsOf(await send('Query', { ...query, Limit: 4, ConsistentRead: true }))).toBe(1);
    const none = { ...query, ExpressionAttributeValues: { ':p': text('none') } };
    expect(unitsOf(await send('Query', { ...none, ConsistentRead: true }))).toBe(1);
    expect(unitsOf(await send('Scan', { ...TOTAL, ConsistentRead: true }))).toBe(3);
  });

  it('BatchGetItem: of each item, also of missing ones', async () => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: sized('a', 100) });
    await send('PutItem', { Item: sized('b', 5_000) });
    const Keys = ['a', 'b', 'c'].map((p) => keyOf(p));
    const get = (ConsistentRead: boolean) => ({
      RequestItems: { [TABLE]: { Keys, ConsistentRead } },
      ...TOTAL,
    });
    const strong = await send('BatchGetItem', get(true));
    expect(strong.ConsumedCapacity).toEqual([{ TableName: TABLE, CapacityUnits: 1 + 2 + 1 }]);
    const eventual = await send('BatchGetItem', get(false));
    expect(eventual.ConsumedCapacity).toEqual([{ TableName: TABLE, CapacityUnits: 2 }]);
  });
});

describe('write units', () => {
  it.each<[string, number, number, number]>([
    ['a new item of 1 KB', 0, 1_024, 1],
    ['a new item of a byte more', 0, 1_025, 2],
    ['a smaller one in its place', 5_000, 100, 5],
    ['a larger one in its place', 100, 5_000, 5],
  ])('PutItem of %s', async (_what, before, after, units) => {
    const { send } = await startDynamoDb();
    if (before > 0) await send('PutItem', { Item: sized('a', before) });
    expect(unitsOf(await send('PutItem', { Item: sized('a', after), ...TOTAL }))).toBe(units);
  });

  it('UpdateItem: by the whole item, the larger of before and after', async () => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: sized('a', 3_000) });
    const update = (UpdateExpression: string, more: Wire = {}) =>
      send('UpdateItem', { Key: keyOf('a'), UpdateExpression, ...more, ...TOTAL });
    expect(unitsOf(await update('SET n = :n', { ExpressionAttributeValues: { ':n': number(1) } }))).toBe(3);
    expect(unitsOf(await update('REMOVE x'))).toBe(3);
    expect(unitsOf(await update('REMOVE x'))).toBe(1);
  });

  it('DeleteItem: by the deleted item, at least one', async () => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: sized('a', 3_000) });
    expect(unitsOf(await send('DeleteItem', { Key: keyOf('a'), ...TOTAL }))).toBe(3);
    expect(unitsOf(await send('DeleteItem', { Key: keyOf('a'), ...TOTAL }))).toBe(1);
  });

  it('BatchWriteItem: of each item', async () => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: sized('a', 3_000) });
    const requests = [{ DeleteRequest: { Key: keyOf('a') } }, { PutRequest: { Item: sized('b', 2_000) } }];
    const answer = await send('BatchWriteItem', { RequestItems: { [TABLE]: requests }, ...TOTAL });
    expect(answer.ConsumedCapacity).toEqual([{ TableName: TABLE, CapacityUnits: 3 + 2 }]);
  });

  it('are consumed by a condition that fails, by the size of the present item', async () => {
    const { dynamoDb, send } = await startDynamoDb();
    await send('PutItem', { Item: sized('a', 3_000) });
    dynamoDb.counters.reset();
    const put = (p: string, ConditionExpression: string) =>
      send('PutItem', { Item: sized(p, 100), ConditionExpression, ...TOTAL });
    await expect(put('a', 'attribute_not_exists(p)')).rejects.toThrow('The conditional request failed');
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(3);
    await expect(put('b', 'attribute_exists(p)')).rejects.toThrow('The conditional request failed');
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(4);
  });
});

it('are not reported unless the request asks for them', async () => {
  const { send } = await startDynamoDb();
  expect(await send('PutItem', { Item: keyOf('a') })).toEqual({});
  expect(await send('PutItem', { Item: keyOf('a'), ReturnConsumedCapacity: 'INDEXES' })).toEqual({
    ConsumedCapacity: { TableName: TABLE, CapacityUnits: 1, Table: { CapacityUnits: 1 } },
  });
});

it('counts requests and units by operation and by table, and errors by name', async () => {
  const { dynamoDb, send } = await startDynamoDb();
  dynamoDb.counters.reset();
  await send('PutItem', { Item: sized('a', 2_000) });
  await send('GetItem', { Key: keyOf('a') });
  await send('GetItem', { Key: keyOf('b'), ConsistentRead: true });
  await expect(send('GetItem', { Key: {} })).rejects.toThrow();
  const snapshot = dynamoDb.counters.snapshot();
  expect(snapshot).toEqual({
    total: { requests: 4, readUnits: 1.5, writeUnits: 2 },
    byOperation: {
      PutItem: { requests: 1, readUnits: 0, writeUnits: 2 },
      GetItem: { requests: 3, readUnits: 1.5, writeUnits: 0 },
    },
    byTable: { [TABLE]: { requests: 3, readUnits: 1.5, writeUnits: 2 } },
    errors: { ValidationException: 1 },
    events: {},
  });
});

it('counts, reads and writes a table with the name of an inherited member as any other', async () => {
  const { dynamoDb, client } = await startDynamoDb();
  const TableName = 'constructor';
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }],
    }),
  );
  dynamoDb.counters.reset();
  await client.send(
    new BatchWriteItemCommand({
      RequestItems: { [TableName]: [{ PutRequest: { Item: { p: { S: 'a' } } } }] },
    }),
  );
  const read = new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [{ p: { S: 'a' } }] } } });
  expect((await client.send(read)).Responses).toEqual({ [TableName]: [{ p: { S: 'a' } }] });
  expect(dynamoDb.counters.snapshot().byTable[TableName]).toMatchObject({ requests: 2, writeUnits: 1 });
});
