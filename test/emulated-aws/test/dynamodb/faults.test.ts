import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  DYNAMODB_PARTITION_LIMITS,
  type DynamoDbCall,
  type DynamoDbFaults,
  type Environment,
  type Faults,
} from '../../src/index.ts';
import { Client, eventually, ok, start } from '../support.ts';
import { itemOf, keyOf, number, type Started, startDynamoDb, TABLE, text, type Wire } from './support.ts';

const put = (p: string, attributes: Wire = {}) => ({ Item: itemOf(p, 's', attributes) });
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Error) => error.name,
  );

describe('a fault', () => {
  const isPut = ({ operation }: DynamoDbCall) => operation === 'PutItem';

  it.each<[keyof DynamoDbFaults, readonly string[], boolean]>([
    ['throttle', ['ProvisionedThroughputExceededException', 'ThrottlingException'], false],
    ['fails', ['InternalServerError'], false],
    ['failsAfterwards', ['InternalServerError'], true],
    ['answerLost', ['TimeoutError'], true],
  ])('%s', async (name, errors, takesEffect) => {
    const { dynamoDb, send } = await startDynamoDb({ faults: { [name]: isPut } });
    const outcomes = new Set<string>();
    for (let index = 0; index < 20; index += 1)
      outcomes.add(await outcomeOf(send('PutItem', put(`p${index}`))));
    expect([...outcomes].sort()).toEqual(errors);
    expect((await send('Scan')).Count).toBe(takesEffect ? 20 : 0);
    expect(dynamoDb.counters.snapshot().events).toEqual({ [name]: 20 });
    expect(dynamoDb.counters.snapshot().total.writeUnits).toBe(takesEffect ? 20 : 0);
  });

  it('is told of the operation, the table and the key', async () => {
    const calls: DynamoDbCall[] = [];
    const fails = (call: DynamoDbCall) => {
      calls.push(call);
      return false;
    };
    const { send } = await startDynamoDb({ faults: { fails } });
    await send('PutItem', put('a', { x: text('x') }));
    await send('GetItem', { Key: keyOf('a') });
    await send('Scan');
    await send('BatchGetItem', { RequestItems: { [TABLE]: { Keys: [keyOf('a')] } } });
    const all = { table: TABLE, environmentId: undefined };
    expect(calls).toEqual([
      { ...all, operation: 'PutItem', key: keyOf('a') },
      { ...all, operation: 'GetItem', key: keyOf('a') },
      { ...all, operation: 'Scan', key: undefined },
      { ...all, operation: 'BatchGetItem', key: undefined },
    ]);
  });

  it('leaves keys of a batch unprocessed, and throttles the batch when it leaves all of them', async () => {
    let left = new Set(['b', 'c']);
    const unprocessed = ({ key }: DynamoDbCall) => left.has(key?.p?.S ?? '');
    const { send } = await startDynamoDb({ faults: { unprocessed } });
    const requests = ['a', 'b', 'c', 'd'].map((p) => ({ PutRequest: put(p) }));
    const written = await send('BatchWriteItem', { RequestItems: { [TABLE]: requests } });
    expect(written.UnprocessedItems).toEqual({ [TABLE]: requests.slice(1, 3) });
    expect((await send('Scan')).Count).toBe(2);
    left = new Set(['a']);
    const Keys = ['a', 'd'].map((p) => keyOf(p));
    const read = await send('BatchGetItem', { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } });
    expect(read).toEqual({
      Responses: { [TABLE]: [itemOf('d', 's')] },
      UnprocessedKeys: { [TABLE]: { Keys: [keyOf('a')], ConsistentRead: true } },
    });
    left = new Set(['a', 'd']);
    const none = send('BatchGetItem', { RequestItems: { [TABLE]: { Keys } } });
    await expect(none).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    const nothing = send('BatchWriteItem', { RequestItems: { [TABLE]: [requests[0], requests[3]] } });
    await expect(nothing).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
  });

  it('strikes the same calls for the same seed, and others for another', async () => {
    const outcomesOf = async (seed: number) => {
      const { send } = await startDynamoDb({ seed, faults: { throttle: 0.2, fails: 0.2, answerLost: 0.2 } });
      const outcomes: string[] = [];
      for (let index = 0; index < 50; index += 1)
        outcomes.push(await outcomeOf(send('PutItem', put(`p${index}`))));
      return outcomes;
    };
    expect(await outcomesOf(7)).toEqual(await outcomesOf(7));
    expect(await outcomesOf(7)).not.toEqual(await outcomesOf(8));
  });

  it('is an error that the SDK knows', async () => {
    const { client } = await startDynamoDb({
      faults: { throttle: ({ operation }) => operation === 'GetItem' },
    });
    const get = client.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('a') }));
    await expect(get).rejects.toSatisfy(({ name }) => /ThroughputExceeded|Throttling/.test(name));
  });
});

describe('latency', () => {
  it('takes time by the clock, with the effect somewhere in between', async () => {
    const { clock, send } = await startDynamoDb({
      faults: { latencyMs: ({ operation }) => (operation === 'PutItem' ? 100 : 0) },
    });
    let isDone = false;
    const putting = send('PutItem', put('a')).then(() => {
      isDone = true;
    });
    let effectMs = 0;
    for (let ms = 1; ms < 100; ms += 1) {
      await clock.advance(1);
      if (effectMs === 0 && (await send('Scan')).Count === 1) effectMs = ms;
    }
    expect(isDone).toBe(false);
    await clock.advance(1);
    await putting;
    expect(effectMs).toBeGreaterThan(0);
  });

  it('can be cut short by the caller, and the call takes effect all the same', async () => {
    const { clock, client, send } = await startDynamoDb({
      faults: { latencyMs: ({ operation }) => (operation === 'PutItem' ? 100 : 0) },
    });
    const controller = new AbortController();
    const command = new PutItemCommand({ TableName: TABLE, Item: keyOf('a') });
    const putting = client.send(command, { abortSignal: controller.signal });
    await eventually(() => clock.pending > 0);
    controller.abort();
    await expect(putting).rejects.toMatchObject({ name: 'AbortError' });
    await clock.advance(100);
    expect((await send('Scan')).Count).toBe(1);
    const late = client.send(command, { abortSignal: controller.signal });
    await expect(late).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('shuffles calls that do not wait for each other, and only those', async () => {
  const { send } = await startDynamoDb({ faults: { shuffle: 1 } });
  const order: number[] = [];
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  await Promise.all(numbers.map((n) => send('PutItem', put(`p${n}`)).then(() => order.push(n))));
  expect(order).not.toEqual(numbers);
  expect([...order].sort((one, other) => one - other)).toEqual(numbers);
  for (const n of numbers) {
    const Item = itemOf('last', 's', { n: number(n) });
    await send('PutItem', { Item });
    expect(await send('GetItem', { Key: keyOf('last'), ConsistentRead: true })).toEqual({ Item });
  }
});

describe('a stale read', () => {
  const changed = async () => {
    const started = await startDynamoDb({ faults: { staleRead: 1 } });
    const { send } = started;
    for (const s of ['kept', 'gone']) await send('PutItem', { Item: itemOf('a', s, { n: number(1) }) });
    await started.clock.advance(2_000);
    await send('PutItem', { Item: itemOf('a', 'kept', { n: number(2) }) });
    await send('DeleteItem', { Key: keyOf('a', 'gone') });
    await send('PutItem', { Item: itemOf('a', 'new', { n: number(2) }) });
    return started;
  };
  const readsOf = async ({ send }: Started, ConsistentRead: boolean) => {
    const values = { ':p': text('a') };
    const query = { KeyConditionExpression: 'p = :p', ExpressionAttributeValues: values, ConsistentRead };
    const got: unknown[] = [];
    for (const s of ['gone', 'kept', 'new'])
      got.push((await send('GetItem', { Key: keyOf('a', s), ConsistentRead })).Item);
    return {
      got: got.filter((item) => item !== undefined),
      queried: (await send('Query', query)).Items,
      scanned: (await send('Scan', { ConsistentRead })).Items,
    };
  };
  const all = (items: readonly Wire[]) => ({ got: items, queried: items, scanned: items });
  const before = [itemOf('a', 'gone', { n: number(1) }), itemOf('a', 'kept', { n: number(1) })];
  const after = [itemOf('a', 'kept', { n: number(2) }), itemOf('a', 'new', { n: number(2) })];

  it('sees every item as it was before its last write', async () => {
    expect(await readsOf(await changed(), false)).toEqual(all(before));
  });

  it('never comes from a consistent read', async () => {
    expect(await readsOf(await changed(), true)).toEqual(all(after));
  });

  it('is at most a second old', async () => {
    const started = await changed();
    await started.clock.advance(1_001);
    expect(await readsOf(started, false)).toEqual(all(after));
  });
});

describe('TTL', () => {
  const expiring = async (timeToLiveSeconds?: number) => {
    const started = await startDynamoDb(timeToLiveSeconds === undefined ? {} : { timeToLiveSeconds });
    const specification = { AttributeName: 't', Enabled: true };
    await started.send('UpdateTimeToLive', { TimeToLiveSpecification: specification });
    const nowSeconds = started.clock.now() / 1_000;
    await started.send('PutItem', put('a', { t: number(nowSeconds + 10) }));
    await started.send('PutItem', put('b', { t: text(`${nowSeconds + 10}`) }));
    await started.send('PutItem', put('c', { t: number(nowSeconds - 6 * 365 * 86_400) }));
    return started;
  };
  const keysOf = async ({ send }: Started) =>
    ((await send('Scan')).Items as { p: { S: string } }[]).map(({ p }) => p.S).sort();

  it('deletes nothing by default, and reads ignore it', async () => {
    const started = await expiring();
    await started.clock.advance(100 * 86_400_000);
    expect(await keysOf(started)).toEqual(['a', 'b', 'c']);
  });

  it('deletes late, free of charge, and only by numbers of the last five years', async () => {
    const started = await expiring(30);
    await started.clock.advance(40_000);
    expect(await keysOf(started)).toEqual(['a', 'b', 'c']);
    started.dynamoDb.counters.reset();
    await started.clock.advance(1);
    expect(await keysOf(started)).toEqual(['b', 'c']);
    const { total, events } = started.dynamoDb.counters.snapshot();
    expect({ writes: total.writeUnits, events }).toEqual({ writes: 0, events: { timeToLiveDeletes: 1 } });
  });

  it('leaves nothing for a condition to find', async () => {
    const started = await expiring(30);
    await started.clock.advance(40_001);
    await started.send('PutItem', { ...put('a'), ConditionExpression: 'attribute_not_exists(p)' });
    expect(await keysOf(started)).toEqual(['a', 'b', 'c']);
  });
});

describe('a partition', () => {
  it('takes a thousand writes and three thousand reads a second, whatever other partitions do', async () => {
    const { clock, send } = await startDynamoDb({ limits: DYNAMODB_PARTITION_LIMITS });
    const write = (p: string, s: number) => outcomeOf(send('PutItem', { Item: itemOf(p, `s${s}`) }));
    const read = () => outcomeOf(send('GetItem', { Key: keyOf('a'), ConsistentRead: true }));
    for (let count = 0; count < 1_000; count += 1) expect(await write('a', count)).toBe('done');
    expect(await write('a', 0)).toBe('ProvisionedThroughputExceededException');
    expect(await write('b', 0)).toBe('done');
    for (let count = 0; count < 3_000; count += 1) expect(await read()).toBe('done');
    expect(await read()).toBe('ProvisionedThroughputExceededException');
    await clock.advance(2);
    expect([await write('a', 0), await write('a', 0), await write('a', 0)]).toEqual([
      'done',
      'done',
      'ProvisionedThroughputExceededException',
    ]);
  });

  it('leaves keys unprocessed that it does not accept from a batch', async () => {
    const limits = { partitionReadUnitsPerSecond: 2 };
    const { send } = await startDynamoDb({ limits });
    const Keys = ['1', '2', '3'].map((s) => keyOf('a', s));
    const request = { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } };
    const { UnprocessedKeys } = await send('BatchGetItem', request);
    expect(UnprocessedKeys).toEqual({ [TABLE]: { Keys: [keyOf('a', '3')], ConsistentRead: true } });
  });
});

describe('an execution environment', () => {
  const writer = async (killAtCheckpoint: NonNullable<Faults['killAtCheckpoint']>) => {
    const started = await startDynamoDb();
    const returned: string[] = [];
    const handlers = (environment: Environment) => {
      const client = new DynamoDBClient(started.dynamoDb.clientConfig(environment));
      return {
        async default() {
          await client.send(new PutItemCommand({ TableName: TABLE, Item: keyOf('a') }));
          returned.push(environment.id);
          return ok;
        },
      };
    };
    const emulator = await start(handlers, { faults: { killAtCheckpoint }, lambda: { timeoutMs: 1_000 } });
    const client = await Client.open(emulator.url);
    client.send('write');
    return { ...started, emulator, returned };
  };

  it.each<[string, number]>([
    ['dynamodb:PutItem:before', 0],
    ['dynamodb:PutItem:after', 1],
  ])('that dies at %s hears nothing more, and leaves %i items', async (checkpoint, count) => {
    const { emulator, returned, send } = await writer(({ name }) => name === checkpoint);
    await eventually(() => emulator.counters.snapshot().events.killAtCheckpoint === 1);
    await emulator.clock.advance(1_000);
    await emulator.quiet();
    expect(returned).toEqual([]);
    expect((await send('Scan')).Count).toBe(count);
  });

  it('gets its answer if it lives on', async () => {
    const { emulator, returned, send } = await writer(0);
    await eventually(() => returned.length === 1);
    await emulator.quiet();
    expect((await send('Scan')).Count).toBe(1);
  });
});

describe('the SDK', () => {
  it('takes its client configuration as it is, or the request handler alone', async () => {
    const { client, dynamoDb } = await startDynamoDb();
    await client.send(
      new PutItemCommand({ TableName: TABLE, Item: { ...keyOf('a'), b: { B: Buffer.from([1, 2]) } } }),
    );
    const signed = new DynamoDBClient({
      region: 'eu-west-3',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      requestHandler: dynamoDb.requestHandler(),
    });
    const { Item, $metadata } = await signed.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('a') }));
    expect([...(Item?.b?.B ?? [])]).toEqual([1, 2]);
    expect($metadata).toMatchObject({
      httpStatusCode: 200,
      requestId: expect.stringMatching(/^[0-9A-Z]{52}$/),
    });
  });

  it('reports the item that made a condition fail, if the request asks for it', async () => {
    const { client } = await startDynamoDb();
    const Item = { ...keyOf('a'), n: number(1) };
    await client.send(new PutItemCommand({ TableName: TABLE, Item }));
    const update = (ReturnValuesOnConditionCheckFailure: 'ALL_OLD' | 'NONE') =>
      client.send(
        new UpdateItemCommand({
          TableName: TABLE,
          Key: keyOf('a'),
          ConditionExpression: 'attribute_not_exists(p)',
          ReturnValuesOnConditionCheckFailure,
        }),
      );
    await expect(update('ALL_OLD')).rejects.toSatisfy(
      (error) => error instanceof ConditionalCheckFailedException && error.Item?.n?.N === '1',
    );
    await expect(update('NONE')).rejects.toSatisfy(
      (error) => error instanceof ConditionalCheckFailedException && error.Item === undefined,
    );
  });
});
