import { describe, expect, it } from 'vitest';
import { AnswerError, itemOf, keyOf, number, startDynamoDb, TABLE, text, type Wire } from './support.ts';

const put = (p: string, attributes: Wire = {}, more: Wire = {}) => ({
  Put: { TableName: TABLE, Item: itemOf(p, 's', attributes), ...more },
});
const remove = (p: string, more: Wire = {}) => ({ Delete: { TableName: TABLE, Key: keyOf(p), ...more } });
const update = (p: string, UpdateExpression: string, more: Wire = {}) => ({
  Update: { TableName: TABLE, Key: keyOf(p), UpdateExpression, ...more },
});
const check = (p: string, ConditionExpression: string, more: Wire = {}) => ({
  ConditionCheck: { TableName: TABLE, Key: keyOf(p), ConditionExpression, ...more },
});
const IS_NEW = { ConditionExpression: 'attribute_not_exists(p)' };
const ALL_OLD = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };

async function start(options: Parameters<typeof startDynamoDb>[0] = {}) {
  const started = await startDynamoDb(options);
  const transact = async (TransactItems: readonly unknown[], more: Wire = {}) =>
    await started.send('TransactWriteItems', { TransactItems, ...more });
  const there = async (p: string) =>
    (await started.send('GetItem', { Key: keyOf(p), ConsistentRead: true })).Item;
  return { ...started, transact, there };
}

async function refused(call: Promise<unknown>): Promise<AnswerError> {
  const error = await call.catch((each: unknown) => each);
  if (error instanceof AnswerError) return error;
  throw new Error(`expected to be refused, got ${JSON.stringify(error)}`);
}

describe('TransactWriteItems', () => {
  it('takes effect as a whole', async () => {
    const { send, transact, there } = await start();
    await send('PutItem', { Item: itemOf('old', 's') });
    await send('PutItem', { Item: itemOf('counted', 's', { n: number(1) }) });
    await transact([
      put('new', { x: text('y') }),
      remove('old'),
      update('counted', 'ADD n :one', { ExpressionAttributeValues: { ':one': number(1) } }),
      check('nowhere', 'attribute_not_exists(p)'),
    ]);
    expect(await there('new')).toEqual(itemOf('new', 's', { x: text('y') }));
    expect(await there('old')).toBeUndefined();
    expect(await there('counted')).toMatchObject({ n: number(2) });
    expect(await there('nowhere')).toBeUndefined();
  });

  it('has no effect if one condition fails, and reports the conditions in order with the present items', async () => {
    const { send, transact, there } = await start();
    await send('PutItem', { Item: itemOf('a', 's', { x: number(1) }) });
    await send('PutItem', { Item: itemOf('b', 's', { x: number(2) }) });
    const error = await refused(
      transact([put('new'), put('a', {}, { ...IS_NEW, ...ALL_OLD }), put('b', {}, IS_NEW), remove('c')]),
    );
    expect(error.name).toBe('TransactionCanceledException');
    expect(error.message).toBe(
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, None]',
    );
    expect(error.body.CancellationReasons).toEqual([
      { Code: 'None' },
      {
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
        Item: itemOf('a', 's', { x: number(1) }),
      },
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      { Code: 'None' },
    ]);
    expect(await there('new')).toBeUndefined();
  });

  it('is cancelled if an update does not fit its item', async () => {
    const { send, transact, there } = await start();
    await send('PutItem', { Item: itemOf('a', 's', { x: text('no number') }) });
    const error = await refused(
      transact([
        put('new'),
        update('a', 'SET x = x + :one', { ExpressionAttributeValues: { ':one': number(1) } }),
      ]),
    );
    expect(error.body.CancellationReasons).toMatchObject([{ Code: 'None' }, { Code: 'ValidationError' }]);
    expect(await there('new')).toBeUndefined();
  });

  it.each([
    ['no action', []],
    ['101 actions', Array.from({ length: 101 }, (_, index) => put(`item-${index}`))],
    ['two actions in one', [{ ...put('a'), ...remove('b') }]],
    ['an action that it does not know', [{ Get: { TableName: TABLE, Key: keyOf('a') } }]],
    ['two actions on one item', [put('a'), remove('a')]],
    ['a check of nothing', [{ ConditionCheck: { TableName: TABLE, Key: keyOf('a') } }]],
    ['an update that says nothing', [{ Update: { TableName: TABLE, Key: keyOf('a') } }]],
    ['an update of the key', [update('a', 'REMOVE s')]],
    ['a parameter of a lone write', [put('a', {}, { ReturnValues: 'ALL_OLD' })]],
    ['an item over 400 KB', [put('a', { x: text('x'.repeat(400 * 1024)) })]],
    [
      'items over 4 MB together',
      Array.from({ length: 11 }, (_, index) => put(`item-${index}`, { x: text('x'.repeat(390 * 1024)) })),
    ],
  ])('refuses %s', async (_what, actions) => {
    const { transact, dynamoDb } = await start();
    expect((await refused(transact(actions))).name).toBe('ValidationException');
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(0);
  });

  it('takes a hundred actions, and costs twice as much as separate writes', async () => {
    const { transact, dynamoDb } = await start();
    const actions = Array.from({ length: 100 }, (_, index) => put(`item-${index}`));
    const { ConsumedCapacity } = await transact(actions, { ReturnConsumedCapacity: 'TOTAL' });
    expect(ConsumedCapacity).toEqual([{ TableName: TABLE, CapacityUnits: 200 }]);
    expect(dynamoDb.counters.snapshot().byOperation.TransactWriteItems).toEqual({
      requests: 1,
      readUnits: 0,
      writeUnits: 200,
    });
  });

  it('costs the larger of before and after, and as much if it is cancelled', async () => {
    const { send, transact, dynamoDb } = await start();
    await send('PutItem', { Item: itemOf('a', 's', { x: text('x'.repeat(2_500)) }) });
    dynamoDb.counters.reset();
    const actions = [remove('a'), check('b', 'attribute_not_exists(p)')];
    await transact(actions);
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(2 * 3 + 2);
    dynamoDb.counters.reset();
    await refused(transact([check('a', 'attribute_exists(p)'), put('b')]));
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(2 + 2);
  });

  describe('under a token', () => {
    const TOKEN = { ClientRequestToken: 'token' };
    const count = [update('counted', 'ADD n :one', { ExpressionAttributeValues: { ':one': number(1) } })];

    it('takes effect once in ten minutes, and a repetition only reads', async () => {
      const { transact, there, clock, dynamoDb } = await start();
      await transact(count, TOKEN);
      dynamoDb.counters.reset();
      await clock.advance(599_000);
      await transact(count, TOKEN);
      expect(await there('counted')).toMatchObject({ n: number(1) });
      expect(dynamoDb.counters.snapshot().byOperation.TransactWriteItems).toMatchObject({
        readUnits: 2,
        writeUnits: 0,
      });
      await clock.advance(1_000);
      await transact(count, TOKEN);
      expect(await there('counted')).toMatchObject({ n: number(2) });
    });

    it('refuses another request', async () => {
      const { transact, there } = await start();
      await transact(count, TOKEN);
      expect((await refused(transact([put('other')], TOKEN))).name).toBe(
        'IdempotentParameterMismatchException',
      );
      expect(await there('other')).toBeUndefined();
    });

    it('checks again after a cancelled transaction', async () => {
      const { send, transact, there } = await start();
      await send('PutItem', { Item: itemOf('a', 's') });
      const actions = [put('a', { x: number(1) }, IS_NEW)];
      await refused(transact(actions, TOKEN));
      await send('DeleteItem', { Key: keyOf('a') });
      await transact(actions, TOKEN);
      expect(await there('a')).toMatchObject({ x: number(1) });
    });

    it.each([[''], ['x'.repeat(37)]])('refuses a token of no such length: %j', async (ClientRequestToken) => {
      const { transact } = await start();
      expect((await refused(transact(count, { ClientRequestToken }))).name).toBe('ValidationException');
    });

    it('makes an answer that was lost harmless', async () => {
      let losses = 1;
      const { transact, there } = await start({
        faults: { answerLost: ({ operation }) => operation === 'TransactWriteItems' && losses-- > 0 },
      });
      await expect(transact(count, TOKEN)).rejects.toThrow('broke before the answer');
      await transact(count, TOKEN);
      expect(await there('counted')).toMatchObject({ n: number(1) });
    });
  });

  it('meets a conflict, as a write of one item does', async () => {
    let conflicts = 2;
    const subjects: unknown[] = [];
    const { send, transact, there } = await start({
      faults: {
        conflict: ({ operation, key, table }) => {
          if (operation === 'GetItem') return false;
          subjects.push({ operation, key, table });
          conflicts -= 1;
          return conflicts >= 0;
        },
      },
    });
    const cancelled = await refused(transact([put('a'), put('b')]));
    expect(cancelled.body.CancellationReasons).toEqual([
      { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
      { Code: 'None' },
    ]);
    const single = await refused(send('PutItem', { Item: itemOf('a', 's') }));
    expect(single.name).toBe('TransactionConflictException');
    expect(await there('a')).toBeUndefined();
    await transact([put('a'), put('b')]);
    expect(await there('b')).toBeDefined();
    expect(subjects[0]).toEqual({ operation: 'TransactWriteItems', key: keyOf('a'), table: TABLE });
  });

  it('is cancelled if a partition accepts no more', async () => {
    const { transact, there } = await start({ limits: { partitionWriteUnitsPerSecond: 3 } });
    await transact([put('a', { x: text('x'.repeat(3_000)) })]);
    const error = await refused(transact([put('b'), put('a')]));
    expect(error.body.CancellationReasons).toMatchObject([
      { Code: 'None' },
      { Code: 'ProvisionedThroughputExceeded' },
    ]);
    expect(await there('b')).toBeUndefined();
  });
});
