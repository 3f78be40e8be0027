import { describe, expect, it } from 'vitest';
import { AnswerError, itemOf, keyOf, number, startDynamoDb, text, type Wire } from './support.ts';

const ITEM = {
  ...keyOf('a'),
  word: text('hello'),
  n: number(5),
  bytes: { B: 'AQID' },
  yes: { BOOL: true },
  nothing: { NULL: true },
  words: { SS: ['red', 'green'] },
  numbers: { NS: ['1', '2.5'] },
  line: { L: [number(1), text('two'), { M: { deep: text('down') } }] },
  tree: { M: { below: { M: { n: number(7) } }, 'with.dot': text('dotted') } },
};

describe('a condition', () => {
  /** Whether a write with this condition comes through. */
  const holds = async (condition: string, values?: Wire, names?: Wire, item: Wire | undefined = ITEM) => {
    const { send } = await startDynamoDb();
    if (item !== undefined) await send('PutItem', { Item: item });
    try {
      await send('DeleteItem', {
        Key: keyOf('a'),
        ConditionExpression: condition,
        ...(values !== undefined && { ExpressionAttributeValues: values }),
        ...(names !== undefined && { ExpressionAttributeNames: names }),
      });
      return true;
    } catch (error) {
      if (error instanceof AnswerError && error.name === 'ConditionalCheckFailedException') return false;
      throw error;
    }
  };

  it.each<[string, Wire | undefined, boolean]>([
    ['attribute_exists(word)', undefined, true],
    ['attribute_exists(gone)', undefined, false],
    ['attribute_not_exists(gone)', undefined, true],
    ['attribute_not_exists(tree.below.n)', undefined, false],
    ['attribute_exists(line[2].deep)', undefined, true],
    ['attribute_exists(line[3])', undefined, false],
    ['attribute_exists(word.below)', undefined, false],
    ['attribute_type(words, :v)', { ':v': text('SS') }, true],
    ['attribute_type(words, :v)', { ':v': text('S') }, false],
    ['begins_with(word, :v)', { ':v': text('hel') }, true],
    ['begins_with(bytes, :v)', { ':v': { B: 'AQI=' } }, true],
    ['begins_with(n, :v)', { ':v': text('5') }, false],
    ['contains(word, :v)', { ':v': text('ell') }, true],
    ['contains(bytes, :v)', { ':v': { B: 'AgM=' } }, true],
    ['contains(words, :v)', { ':v': text('red') }, true],
    ['contains(words, :v)', { ':v': text('re') }, false],
    ['contains(numbers, :v)', { ':v': number('2.50') }, true],
    ['contains(line, :v)', { ':v': text('two') }, true],
    ['contains(line, :v)', { ':v': text('one') }, false],
    ['size(word) = :v', { ':v': number(5) }, true],
    ['size(bytes) = :v', { ':v': number(3) }, true],
    ['size(words) = :v', { ':v': number(2) }, true],
    ['size(line) > :v', { ':v': number(2) }, true],
    ['size(tree) BETWEEN :v AND :w', { ':v': number(1), ':w': number(2) }, true],
    ['size(n) = :v', { ':v': number(1) }, false],
    ['n = :v', { ':v': number('5.0') }, true],
    ['n = :v', { ':v': text('5') }, false],
    ['n <> :v', { ':v': text('5') }, true],
    ['gone <> :v', { ':v': text('5') }, true],
    ['gone = :v', { ':v': text('5') }, false],
    ['n < :v', { ':v': number(10) }, true],
    ['n < :v', { ':v': text('9') }, false],
    ['n <= :v', { ':v': number(5) }, true],
    ['n > :v', { ':v': number(5) }, false],
    ['n >= :v', { ':v': number('-1E2') }, true],
    [':v > n', { ':v': number(6) }, true],
    ['word > :v', { ':v': text('hell') }, true],
    ['bytes < :v', { ':v': { B: '/w==' } }, true],
    ['words = :v', { ':v': { SS: ['green', 'red'] } }, true],
    ['words = :v', { ':v': { SS: ['green'] } }, false],
    ['line = :v', { ':v': { L: [text('two')] } }, false],
    ['tree.below = :v', { ':v': { M: { n: number('7.00') } } }, true],
    ['yes = :v', { ':v': { BOOL: true } }, true],
    ['nothing = :v', { ':v': { NULL: true } }, true],
    ['n BETWEEN :v AND :w', { ':v': number(1), ':w': number(5) }, true],
    ['n BETWEEN :v AND :w', { ':v': number(6), ':w': number(9) }, false],
    ['n IN (:v, :w)', { ':v': number(1), ':w': number(5) }, true],
    ['gone IN (:v)', { ':v': number(1) }, false],
    ['NOT n = :v', { ':v': number(1) }, true],
    ['not attribute_exists(n) or n = :v', { ':v': number(5) }, true],
    ['n = :v OR n = :w AND attribute_exists(gone)', { ':v': number(5), ':w': number(1) }, true],
    ['(n = :v OR n = :w) AND attribute_exists(gone)', { ':v': number(5), ':w': number(1) }, false],
    ['NOT (n = :v AND attribute_exists(gone))', { ':v': number(5) }, true],
  ])('%s with %j: %s', async (condition, values, expected) => {
    expect(await holds(condition, values)).toBe(expected);
  });

  it('takes a name that is quoted as one name, dots and all', async () => {
    expect(await holds('attribute_exists(tree.#n)', undefined, { '#n': 'with.dot' })).toBe(true);
    expect(await holds('attribute_exists(#n)', undefined, { '#n': 'tree.below' })).toBe(false);
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'finds no attribute %s where there is none',
    async (name) => {
      expect(await holds('attribute_exists(#n)', undefined, { '#n': name })).toBe(false);
      const item = JSON.parse(`{"p":{"S":"a"},"s":{"S":"s"},"${name}":{"S":"x"}}`);
      expect(await holds('attribute_exists(#n)', undefined, { '#n': name }, item)).toBe(true);
    },
  );

  it('on a missing item finds no attribute', async () => {
    expect(await holds('attribute_not_exists(p)', undefined, undefined, itemOf('b', 's'))).toBe(true);
    expect(await holds('n = :v', { ':v': number(5) }, undefined, itemOf('b', 's'))).toBe(false);
  });
});

describe('an update', () => {
  const updated = async (expression: string, values?: Wire, before: Wire = ITEM) => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: before });
    const { Attributes } = await send('UpdateItem', {
      Key: keyOf('a'),
      UpdateExpression: expression,
      ReturnValues: 'ALL_NEW',
      ...(values !== undefined && { ExpressionAttributeValues: values }),
    });
    return Attributes;
  };

  const LINE = ITEM.line.L;

  it.each<[string, Wire | undefined, Wire]>([
    ['SET n = :v', { ':v': text('x') }, { n: text('x') }],
    ['SET n = n + :v', { ':v': number('0.1') }, { n: number('5.1') }],
    ['SET n = :v - n', { ':v': number(1) }, { n: number(-4) }],
    ['SET n = tree.below.n + n', undefined, { n: number(12) }],
    ['SET fresh = if_not_exists(fresh, :v)', { ':v': number(1) }, { fresh: number(1) }],
    ['SET n = if_not_exists(n, :v) + :v', { ':v': number(1) }, { n: number(6) }],
    ['SET n = if_not_exists(gone, if_not_exists(n, :v))', { ':v': number(1) }, { n: number(5) }],
    ['SET line = list_append(:v, line)', { ':v': { L: [text('0')] } }, { line: { L: [text('0'), ...LINE] } }],
    [
      'SET tree.below.n = :v, tree.fresh = :w',
      { ':v': number(1), ':w': number(2) },
      { tree: { M: { ...ITEM.tree.M, below: { M: { n: number(1) } }, fresh: number(2) } } },
    ],
    ['SET line[1] = :v', { ':v': text('2') }, { line: { L: [LINE[0], text('2'), LINE[2]] } }],
    ['SET line[7] = :v', { ':v': text('end') }, { line: { L: [...LINE, text('end')] } }],
    ['ADD n :v', { ':v': number(-7) }, { n: number(-2) }],
    ['ADD fresh :v', { ':v': number(3) }, { fresh: number(3) }],
    ['ADD words :v', { ':v': { SS: ['red', 'blue'] } }, { words: { SS: ['red', 'green', 'blue'] } }],
    ['DELETE words :v', { ':v': { SS: ['red', 'blue'] } }, { words: { SS: ['green'] } }],
    ['DELETE words :v', { ':v': { SS: ['red', 'green'] } }, { words: undefined }],
    ['DELETE gone :v', { ':v': { SS: ['red', 'green'] } }, { gone: undefined }],
    ['REMOVE n, gone, line[9], line[0]', undefined, { n: undefined, line: { L: LINE.slice(1) } }],
  ])('%s with %j', async (expression, values, expected) => {
    expect(await updated(expression, values)).toEqual({ ...ITEM, ...expected });
  });

  it('refers with every index of a list to the list before it', async () => {
    const { send } = await startDynamoDb();
    const line = { L: ['a', 'b', 'c', 'd'].map(text) };
    await send('PutItem', { Item: itemOf('a', 's', { line }) });
    const { Attributes } = await send('UpdateItem', {
      Key: keyOf('a'),
      UpdateExpression: 'REMOVE line[0], line[2] SET line[1] = :v, line[9] = :w, line[8] = :x',
      ExpressionAttributeValues: { ':v': text('B'), ':w': text('9'), ':x': text('8') },
      ReturnValues: 'ALL_NEW',
    });
    expect(Attributes).toMatchObject({ line: { L: ['B', 'd', '8', '9'].map(text) } });
  });

  it('reads on every right-hand side the item before the update', async () => {
    const values = { ':one': number(1) };
    const before = itemOf('a', 's', { x: number(1), y: number(2) });
    expect(await updated('SET x = y, y = x ADD z :one', values, before)).toMatchObject({
      x: number(2),
      y: number(1),
      z: number(1),
    });
  });

  it('creates an item where there is none, and does not change returned ones', async () => {
    const { send } = await startDynamoDb();
    await send('UpdateItem', { Key: keyOf('a') });
    expect(await send('GetItem', { Key: keyOf('a') })).toEqual({ Item: keyOf('a') });
    const change = {
      Key: keyOf('a'),
      UpdateExpression: 'SET m = :m',
      ExpressionAttributeValues: { ':m': { M: { n: number(1) } } },
    };
    await send('UpdateItem', change);
    const { Attributes } = await send('UpdateItem', {
      Key: keyOf('a'),
      UpdateExpression: 'SET m.n = :n',
      ExpressionAttributeValues: { ':n': number(2) },
      ReturnValues: 'ALL_OLD',
    });
    expect(Attributes).toMatchObject({ m: { M: { n: number(1) } } });
  });

  it.each<[string, string, Wire]>([
    ['NONE', 'nothing', {}],
    ['ALL_OLD', 'the whole item before', { Attributes: itemOf('a', 's', { x: number(1), y: number(2) }) }],
    ['UPDATED_OLD', 'what was changed, before', { Attributes: { x: number(1) } }],
    [
      'ALL_NEW',
      'the whole item',
      { Attributes: itemOf('a', 's', { x: number(5), y: number(2), z: number(5) }) },
    ],
    ['UPDATED_NEW', 'what was changed', { Attributes: { x: number(5), z: number(5) } }],
  ])('returns with %s %s', async (returnValues, _what, expected) => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: itemOf('a', 's', { x: number(1), y: number(2) }) });
    const answer = await send('UpdateItem', {
      Key: keyOf('a'),
      UpdateExpression: 'SET x = :v, z = :v',
      ExpressionAttributeValues: { ':v': number(5) },
      ReturnValues: returnValues,
    });
    expect(answer).toEqual(expected);
  });
});

describe('a projection', () => {
  it.each<[string, Wire]>([
    ['word, n', { word: text('hello'), n: number(5) }],
    ['line[2].deep, line[0]', { line: { L: [number(1), { M: { deep: text('down') } }] } }],
    ['tree.below.n, gone, word.x', { tree: { M: { below: { M: { n: number(7) } } } } }],
    ['line[9]', {}],
  ])('%s', async (ProjectionExpression, expected) => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: ITEM });
    const { Item } = await send('GetItem', { Key: keyOf('a'), ProjectionExpression });
    expect(Item).toEqual(expected);
  });
});
