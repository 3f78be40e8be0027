import { describe, expect, it } from 'vitest';
import { itemOf, keyOf, number, type Started, startDynamoDb, TABLE, text, type Wire } from './support.ts';

const sortKeysOf = (answer: Wire) =>
  (answer.Items as { s: { S?: string; N?: string } }[]).map(({ s }) => s.S ?? s.N);

const fill = async ({ send }: Started, sortKeys: readonly string[], attributes: Wire = {}) => {
  for (const s of sortKeys) await send('PutItem', { Item: itemOf('a', s, attributes) });
};

describe('Query', () => {
  const ask = (condition: string, values: Wire = {}, more: Wire = {}) => ({
    KeyConditionExpression: `p = :p${condition}`,
    ExpressionAttributeValues: { ':p': text('a'), ...values },
    ...more,
  });

  it.each<[string, Wire, string[]]>([
    ['', {}, ['a', 'ab', 'b', 'ba', 'c']],
    [' AND s = :s', { ':s': text('b') }, ['b']],
    [' AND s = :s', { ':s': text('bb') }, []],
    [' AND s < :s', { ':s': text('b') }, ['a', 'ab']],
    [' AND s <= :s', { ':s': text('b') }, ['a', 'ab', 'b']],
    [' AND s > :s', { ':s': text('b') }, ['ba', 'c']],
    [' AND :s <= s', { ':s': text('b') }, ['b', 'ba', 'c']],
    [' AND s BETWEEN :s AND :t', { ':s': text('aa'), ':t': text('ba') }, ['ab', 'b', 'ba']],
    [' AND begins_with(s, :s)', { ':s': text('b') }, ['b', 'ba']],
    [' AND begins_with(s, :s)', { ':s': text('z') }, []],
  ])('p = :p%s with %j', async (condition, values, expected) => {
    const started = await startDynamoDb();
    await fill(started, ['c', 'ab', 'b', 'a', 'ba']);
    await started.send('PutItem', { Item: itemOf('other', 'b') });
    const forward = await started.send('Query', ask(condition, values));
    expect(sortKeysOf(forward)).toEqual(expected);
    const backward = await started.send('Query', ask(condition, values, { ScanIndexForward: false }));
    expect(sortKeysOf(backward)).toEqual([...expected].reverse());
  });

  it('sorts strings by the bytes of UTF-8, numbers by value, binaries by bytes without sign', async () => {
    const strings = await startDynamoDb();
    await fill(strings, ['\u{10ffff}', '\uffff', '\u{10000}', '\ue000', 'z', 'Z', 'zz', '\0']);
    expect(sortKeysOf(await strings.send('Query', ask('')))).toEqual([
      '\0',
      'Z',
      'z',
      'zz',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
    ]);
    const numbers = await startDynamoDb({}, { s: 'N' });
    for (const n of ['10', '9', '-1', '1E-3', '0', '12345678901234567890', '12345678901234567891']) {
      await numbers.send('PutItem', { Item: { p: text('a'), s: number(n) } });
    }
    expect(sortKeysOf(await numbers.send('Query', ask('')))).toEqual([
      '-1',
      '0',
      '0.001',
      '9',
      '10',
      '12345678901234567890',
      '12345678901234567891',
    ]);
    const binaries = await startDynamoDb({}, { s: 'B' });
    for (const bytes of [[255], [127], [0], [127, 0]]) {
      const B = Buffer.from(bytes).toString('base64');
      await binaries.send('PutItem', { Item: { p: text('a'), s: { B } } });
    }
    const { Items } = await binaries.send('Query', ask(''));
    const found = (Items as { s: { B: string } }[]).map(({ s }) => [...Buffer.from(s.B, 'base64')]);
    expect(found).toEqual([[0], [127], [127, 0], [255]]);
  });

  it.each([true, false])(
    'comes in pages that miss and double nothing (forward: %s)',
    async (ScanIndexForward) => {
      const started = await startDynamoDb();
      const sortKeys = Array.from({ length: 10 }, (_, index) => `s${index}`);
      await fill(started, sortKeys);
      const pages: unknown[][] = [];
      let ExclusiveStartKey: unknown;
      do {
        const page = {
          Limit: 3,
          ScanIndexForward,
          ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
        };
        const answer = await started.send('Query', ask('', {}, page));
        pages.push(sortKeysOf(answer));
        ExclusiveStartKey = answer.LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined);
      expect(pages.map((page) => page.length)).toEqual([3, 3, 3, 1]);
      expect(pages.flat()).toEqual(ScanIndexForward ? sortKeys : sortKeys.reverse());
    },
  );

  it('names a key to go on from whenever the limit is reached, even when nothing comes after it', async () => {
    const started = await startDynamoDb();
    await fill(started, ['1', '2']);
    const last = await started.send('Query', ask('', {}, { Limit: 2 }));
    expect(last.LastEvaluatedKey).toEqual(keyOf('a', '2'));
    const after = await started.send('Query', ask('', {}, { ExclusiveStartKey: last.LastEvaluatedKey }));
    expect(after).toEqual({ Items: [], Count: 0, ScannedCount: 0 });
  });

  it('goes on from a key that has been deleted meanwhile', async () => {
    const started = await startDynamoDb();
    await fill(started, ['1', '2', '3']);
    await started.send('DeleteItem', { Key: keyOf('a', '2') });
    const answer = await started.send('Query', ask('', {}, { ExclusiveStartKey: keyOf('a', '2') }));
    expect(sortKeysOf(answer)).toEqual(['3']);
  });

  it('reads a megabyte, however few items the filter lets through', async () => {
    const started = await startDynamoDb();
    await fill(started, ['1', '2', '3', '4'], { x: text('x'.repeat(300_000)) });
    const none = { FilterExpression: 'attribute_exists(y)' };
    const answer = await started.send('Query', ask('', {}, none));
    expect(answer).toEqual({ Items: [], Count: 0, ScannedCount: 3, LastEvaluatedKey: keyOf('a', '3') });
  });

  it('counts the limit before the filter', async () => {
    const started = await startDynamoDb();
    await fill(started, ['1', '2', '3']);
    await started.send('PutItem', { Item: itemOf('a', '4', { y: number(1) }) });
    const filtered = { FilterExpression: 'y = :y', Limit: 3 };
    const answer = await started.send('Query', ask('', { ':y': number(1) }, filtered));
    expect(answer).toMatchObject({ Items: [], ScannedCount: 3, LastEvaluatedKey: keyOf('a', '3') });
    const all = await started.send(
      'Query',
      ask('', { ':y': number(1) }, { ...filtered, Limit: 9, Select: 'COUNT' }),
    );
    expect(all).toEqual({ Count: 1, ScannedCount: 4 });
  });

  it.each<[string, Wire, string]>([
    [
      'another partition',
      keyOf('b', '1'),
      'The provided starting key is outside query boundaries based on provided conditions',
    ],
    ['beyond the range', keyOf('a', '9'), 'The provided starting key does not match the range key predicate'],
    [
      'half a key',
      { p: text('a') },
      'The provided starting key is invalid: The provided key element does not match the schema',
    ],
  ])('does not start from %s', async (_what, ExclusiveStartKey, message) => {
    const started = await startDynamoDb();
    const query = ask(' AND s < :s', { ':s': text('5') }, { ExclusiveStartKey });
    await expect(started.send('Query', query)).rejects.toThrow(message);
  });
});

describe('Scan', () => {
  const scanAll = async ({ send }: Started, more: Wire = {}) => {
    const keys: string[] = [];
    let ExclusiveStartKey: unknown;
    do {
      const start = ExclusiveStartKey === undefined ? {} : { ExclusiveStartKey };
      const answer = await send('Scan', { ...more, ...start });
      for (const { p, s } of answer.Items as { p: { S: string }; s: { S: string } }[])
        keys.push(`${p.S} ${s.S}`);
      ExclusiveStartKey = answer.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    return keys;
  };

  const fillPartitions = async ({ send }: Started) => {
    const keys: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const [p, s] = [`p${index % 25}`, `s${index}`];
      await send('PutItem', { Item: itemOf(p, s) });
      keys.push(`${p} ${s}`);
    }
    return keys.sort();
  };

  it.each([1, 2, 7, 60])('finds everything once, in %i segments and pages of 7', async (TotalSegments) => {
    const started = await startDynamoDb();
    const keys = await fillPartitions(started);
    const found: string[] = [];
    for (let Segment = 0; Segment < TotalSegments; Segment += 1) {
      found.push(...(await scanAll(started, { Segment, TotalSegments, Limit: 7 })));
    }
    expect(found.sort()).toEqual(keys);
  });

  it('does not follow the order of partition keys', async () => {
    const started = await startDynamoDb();
    const keys = await fillPartitions(started);
    const found = await scanAll(started);
    expect(found).not.toEqual(keys);
    expect(found.sort()).toEqual(keys);
  });

  it('goes on while items come and go', async () => {
    const started = await startDynamoDb();
    const keys = await fillPartitions(started);
    const first = await started.send('Scan', { Limit: 30 });
    const seen = first.Items as { p: { S: string }; s: { S: string } }[];
    for (const { p, s } of seen) await started.send('DeleteItem', { Key: { p, s } });
    const rest = await scanAll(started, { ExclusiveStartKey: first.LastEvaluatedKey });
    expect([...seen.map(({ p, s }) => `${p.S} ${s.S}`), ...rest].sort()).toEqual(keys);
  });

  it.each<[Wire, string]>([
    [{ Segment: 2, TotalSegments: 2 }, 'Segment: 2 is not less than TotalSegments: 2'],
    [{ Segment: 0 }, 'The TotalSegments parameter is required'],
    [{ TotalSegments: 2 }, 'The Segment parameter is required'],
  ])('refuses %j', async (segment, message) => {
    const { send } = await startDynamoDb();
    await expect(send('Scan', segment)).rejects.toThrow(message);
  });

  it('does not start in another segment', async () => {
    const started = await startDynamoDb();
    await fillPartitions(started);
    const { LastEvaluatedKey } = await started.send('Scan', { Segment: 0, TotalSegments: 2, Limit: 1 });
    const other = { Segment: 1, TotalSegments: 2, ExclusiveStartKey: LastEvaluatedKey };
    await expect(started.send('Scan', other)).rejects.toThrow(
      'Please use ExclusiveStartKey with correct Segment',
    );
  });
});

describe('BatchGetItem', () => {
  const get = (keys: readonly Wire[], more: Wire = {}) => ({
    RequestItems: { [TABLE]: { Keys: keys, ...more } },
  });

  it('returns existing items, in no reliable order', async () => {
    const started = await startDynamoDb();
    const sortKeys = Array.from({ length: 20 }, (_, index) => `s${10 + index}`);
    await fill(started, sortKeys);
    const keys = [...sortKeys, 'none'].map((s) => keyOf('a', s));
    const answer = await started.send('BatchGetItem', get(keys, { ConsistentRead: true }));
    const found =
      (answer.Responses as Record<string, { s: { S: string } }[]>)[TABLE]?.map(({ s }) => s.S) ?? [];
    expect(found).not.toEqual(sortKeys);
    expect(found.sort()).toEqual(sortKeys);
    expect(answer.UnprocessedKeys).toEqual({});
  });

  it('leaves keys beyond a megabyte of a partition unprocessed, with the options of the request', async () => {
    const started = await startDynamoDb();
    await fill(started, ['1', '2', '3', '4'], { x: text('x'.repeat(300_000)) });
    await started.send('PutItem', { Item: itemOf('b', '1') });
    const keys = [...['1', '2', '3', '4'].map((s) => keyOf('a', s)), keyOf('b', '1')];
    const more = {
      ConsistentRead: true,
      ProjectionExpression: '#s',
      ExpressionAttributeNames: { '#s': 's' },
    };
    const answer = await started.send('BatchGetItem', get(keys, more));
    expect((answer.Responses as Record<string, unknown[]>)[TABLE]).toHaveLength(4);
    expect(answer.UnprocessedKeys).toEqual({ [TABLE]: { Keys: [keyOf('a', '4')], ...more } });
  });

  it('leaves keys beyond 16 MB unprocessed', async () => {
    const started = await startDynamoDb();
    const keys = Array.from({ length: 60 }, (_, index) => keyOf(`p${index}`));
    for (const key of keys) {
      await started.send('PutItem', { Item: { ...key, x: text('x'.repeat(300 * 1024 - 20)) } });
    }
    const answer = await started.send('BatchGetItem', get(keys));
    // 54 items of 300 KB are 15.8 MB.
    expect((answer.Responses as Record<string, unknown[]>)[TABLE]).toHaveLength(54);
  });

  it.each<[string, Wire, string]>([
    ['a key twice', get([keyOf('a'), keyOf('a')]), 'Provided list of item keys contains duplicates'],
    [
      'more than a hundred keys',
      get(Array.from({ length: 101 }, (_, index) => keyOf(`${index}`))),
      'Member must have length less than or equal to 100',
    ],
    ['no key', get([]), 'Member must have length greater than or equal to 1'],
    ['no table', { RequestItems: {} }, 'Member must have length greater than or equal to 1'],
  ])('refuses %s', async (_what, request, message) => {
    const { send } = await startDynamoDb();
    await expect(send('BatchGetItem', request)).rejects.toThrow(message);
  });
});

describe('BatchWriteItem', () => {
  const put = (p: string) => ({ PutRequest: { Item: itemOf(p, 's') } });
  const remove = (p: string) => ({ DeleteRequest: { Key: keyOf(p) } });
  const write = (requests: readonly Wire[]) => ({ RequestItems: { [TABLE]: requests } });

  it('puts and deletes', async () => {
    const { send } = await startDynamoDb();
    await send('BatchWriteItem', write([put('a'), put('b')]));
    expect(await send('BatchWriteItem', write([remove('a'), put('c')]))).toEqual({ UnprocessedItems: {} });
    expect((await send('Scan')).Count).toBe(2);
  });

  it.each<[string, Wire, string]>([
    ['a key twice', write([put('a'), remove('a')]), 'Provided list of item keys contains duplicates'],
    [
      'more than 25 requests',
      write(Array.from({ length: 26 }, (_, index) => put(`${index}`))),
      'Member must have length less than or equal to 25',
    ],
    ['an empty request', write([{}]), 'Supplied AttributeValue has more than one datatypes set'],
  ])('refuses %s', async (_what, request, message) => {
    const { send } = await startDynamoDb();
    await expect(send('BatchWriteItem', request)).rejects.toThrow(message);
  });
});
