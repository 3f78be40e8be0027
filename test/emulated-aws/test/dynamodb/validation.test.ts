import { describe, expect, it } from 'vitest';
import { isReservedWord } from '../../src/dynamodb/expressions/reserved-words.ts';
import { itemOf, keyOf, number, startDynamoDb, TABLE, text, type Wire } from './support.ts';

/** DynamoDB's error for an invalid request. */
const refusalOf = async (operation: string, request: Wire, before?: Wire) => {
  const { send } = await startDynamoDb();
  if (before !== undefined) await send('PutItem', { Item: before });
  return await send(operation, request).then(
    () => 'nothing wrong',
    (error: Error) =>
      error.name === 'ValidationException' ? error.message : `${error.name}: ${error.message}`,
  );
};

const EMPTY_KEY =
  'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value.';

describe('a key', () => {
  it.each<[string, Wire, string]>([
    ['without one attribute', { p: text('a') }, 'The provided key element does not match the schema'],
    ['with one more', { ...keyOf('a'), x: text('x') }, 'The provided key element does not match the schema'],
    ['of another type', { p: number(1), s: text('s') }, 'The provided key element does not match the schema'],
    ['that is empty', keyOf(''), `${EMPTY_KEY} Key: p`],
    ['whose sort key is empty', keyOf('a', ''), `${EMPTY_KEY} Key: s`],
    [
      'beyond 2,048 bytes',
      keyOf('ä'.repeat(1_025)),
      'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
    ],
    [
      'with a sort key beyond 1,024 bytes',
      keyOf('a', 'x'.repeat(1_025)),
      'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    ],
  ])('%s', async (_what, Key, message) => {
    expect(await refusalOf('GetItem', { Key })).toBe(message);
    expect(await refusalOf('DeleteItem', { Key })).toBe(message);
    expect(await refusalOf('UpdateItem', { Key })).toBe(message);
  });

  it('may be as long as the limits', async () => {
    expect(await refusalOf('UpdateItem', { Key: keyOf('x'.repeat(2_048), 'x'.repeat(1_024)) })).toBe(
      'nothing wrong',
    );
  });
});

describe('an item', () => {
  const deep = (levels: number): Wire => (levels === 0 ? text('end') : { L: [deep(levels - 1)] });

  it.each<[string, Wire, string]>([
    [
      'without its key',
      { s: text('s') },
      'One or more parameter values were invalid: Missing the key p in the item',
    ],
    [
      'with a key of another type',
      { p: number(1), s: text('s') },
      'One or more parameter values were invalid: Type mismatch for key p expected: S actual: N',
    ],
    ['with an empty key', itemOf('', 's'), `${EMPTY_KEY} Key: p`],
    [
      'of more than 400 KB',
      itemOf('a', 's', { x: text('x'.repeat(400 * 1024 - 4)) }),
      'Item size has exceeded the maximum allowed size',
    ],
    [
      'with a value that has no type',
      itemOf('a', 's', { x: {} }),
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      'with a value of two types',
      itemOf('a', 's', { x: { S: 'x', N: '1' } }),
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    ],
    [
      'with an empty set',
      itemOf('a', 's', { x: { SS: [] } }),
      'One or more parameter values were invalid: An string set  may not be empty',
    ],
    [
      'with a set that has a member twice',
      itemOf('a', 's', { x: { SS: ['a', 'a'] } }),
      'One or more parameter values were invalid: Input collection [a, a] contains duplicates.',
    ],
    [
      'with a number twice',
      itemOf('a', 's', { x: { NS: ['1', '1.0'] } }),
      'Input collection contains duplicates',
    ],
    [
      'with NULL: false',
      itemOf('a', 's', { x: { NULL: false } }),
      'One or more parameter values were invalid: Null attribute value types must have the value of true',
    ],
    [
      'with what is no number',
      itemOf('a', 's', { x: number('one') }),
      'The parameter cannot be converted to a numeric value: one',
    ],
    [
      'with 39 digits',
      itemOf('a', 's', { x: number('1'.repeat(39)) }),
      'Attempting to store more than 38 significant digits in a Number',
    ],
    [
      'with too large a number',
      itemOf('a', 's', { x: number('1E126') }),
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    ],
    [
      'with too small a number',
      itemOf('a', 's', { x: number('1E-131') }),
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    ],
    ['33 levels deep', itemOf('a', 's', { x: deep(33) }), 'Nesting Levels have exceeded supported limits'],
    [
      'with bytes that are not base64',
      itemOf('a', 's', { x: { B: '***' } }),
      'SerializationException: only base-64-encoded strings are convertible to bytes',
    ],
  ])('%s', async (_what, Item, message) => {
    expect(await refusalOf('PutItem', { Item })).toBe(message);
    const request = { RequestItems: { [TABLE]: [{ PutRequest: { Item } }] } };
    expect(await refusalOf('BatchWriteItem', request)).toBe(message);
  });

  it('may be exactly 400 KB, 32 levels deep, have 38 digits and empty values', async () => {
    const attributes = { e: text(''), d: deep(32), n: number(`${'1'.repeat(38)}E87`) };
    expect(await refusalOf('PutItem', { Item: itemOf('a', 's', attributes) })).toBe('nothing wrong');
    const Item = itemOf('a', 's', { x: text('x'.repeat(400 * 1024 - 5)) });
    expect(await refusalOf('PutItem', { Item })).toBe('nothing wrong');
  });

  it('that an update makes too large is refused, and stays as it was', async () => {
    const { send } = await startDynamoDb();
    await send('PutItem', { Item: itemOf('a', 's', { x: text('x'.repeat(300_000)) }) });
    const update = send('UpdateItem', {
      Key: keyOf('a'),
      UpdateExpression: 'SET y = :y',
      ExpressionAttributeValues: { ':y': text('y'.repeat(200_000)) },
    });
    await expect(update).rejects.toThrow('Item size to update has exceeded the maximum allowed size');
    expect(Object.keys((await send('GetItem', { Key: keyOf('a') })).Item as object)).not.toContain('y');
  });

  it('comes back with its numbers as DynamoDB writes them', async () => {
    const { send } = await startDynamoDb();
    const NS = ['1E3', '-0.50', '000', '1.0', '12345678901234567890'];
    await send('PutItem', { Item: itemOf('a', 's', { NS: { NS } }) });
    expect((await send('GetItem', { Key: keyOf('a') })).Item).toMatchObject({
      NS: { NS: ['1000', '-0.5', '0', '1', '12345678901234567890'] },
    });
  });
});

describe('names and values', () => {
  const update = (request: Wire) => refusalOf('UpdateItem', { Key: keyOf('a'), ...request });

  it.each<[string, Wire, string]>([
    [
      'a value that no expression uses',
      { UpdateExpression: 'SET x = :x', ExpressionAttributeValues: { ':x': text('x'), ':y': text('y') } },
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}',
    ],
    [
      'a name that no expression uses',
      { UpdateExpression: 'REMOVE x', ExpressionAttributeNames: { '#x': 'x', '#y': 'y' } },
      'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x, #y}',
    ],
    [
      'a value that was not sent',
      { UpdateExpression: 'SET x = :x' },
      'Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :x',
    ],
    [
      'a name that was not sent',
      { UpdateExpression: 'REMOVE a.#x' },
      'Invalid UpdateExpression: An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'none at all',
      { UpdateExpression: 'REMOVE x', ExpressionAttributeNames: {} },
      'ExpressionAttributeNames must not be empty',
    ],
    [
      'a name without its sign',
      { UpdateExpression: 'REMOVE x', ExpressionAttributeNames: { x: 'x' } },
      'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"',
    ],
    [
      'names without an expression',
      { ExpressionAttributeNames: { '#x': 'x' } },
      'ExpressionAttributeNames can only be specified when using expressions',
    ],
    [
      'values without an expression',
      { ExpressionAttributeValues: { ':x': text('x') } },
      'ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null',
    ],
    [
      'a value that is wrong',
      { UpdateExpression: 'SET x = :x', ExpressionAttributeValues: { ':x': number('x') } },
      'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :x',
    ],
  ])('%s', async (_what, request, message) => {
    expect(await update(request)).toBe(message);
  });
});

describe('an expression', () => {
  const refused = async (parameter: string, expression: string, values?: Wire) => {
    const request = { [parameter]: expression, ...(values && { ExpressionAttributeValues: values }) };
    const message = await refusalOf(parameter === 'KeyConditionExpression' ? 'Query' : 'UpdateItem', {
      ...(parameter !== 'KeyConditionExpression' && { Key: keyOf('a') }),
      ...request,
    });
    return message.replace(`Invalid ${parameter}: `, '');
  };

  it.each<[string, Wire | undefined, string]>([
    ['', undefined, 'The expression can not be empty;'],
    ['a = ', undefined, 'Syntax error; token: "<EOF>", near: "= "'],
    ['a == :v', { ':v': text('') }, 'Syntax error; token: "=", near: "== :v"'],
    ['a ! :v', { ':v': text('') }, 'Syntax error; token: "!", near: "a !"'],
    ['1a = :v', { ':v': text('') }, 'Syntax error; token: "1a", near: "1a ="'],
    ['_a = :v', { ':v': text('') }, 'Syntax error; token: "_a", near: "_a ="'],
    ['a = :v)', { ':v': text('') }, 'Syntax error; token: ")", near: ":v)"'],
    ['status = :v', { ':v': text('') }, 'Attribute name is a reserved keyword; reserved keyword: status'],
    ['a.Name = :v', { ':v': text('') }, 'Attribute name is a reserved keyword; reserved keyword: Name'],
    ['((a = :v))', { ':v': text('') }, 'The expression has redundant parentheses;'],
    ['exists(a)', undefined, 'Invalid function name; function: exists'],
    ['ATTRIBUTE_EXISTS(a)', undefined, 'Invalid function name; function: ATTRIBUTE_EXISTS'],
    [
      'attribute_exists(:v)',
      { ':v': text('') },
      'Operator or function requires a document path; operator or function: attribute_exists',
    ],
    [
      'attribute_exists(a, b)',
      undefined,
      'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2',
    ],
    [
      'begins_with(a, :v)',
      { ':v': number(1) },
      'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
    ],
    [
      'attribute_type(a, :v)',
      { ':v': text('TEXT') },
      'Invalid attribute type name found; type: TEXT, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
    ],
    [
      'size(a)',
      undefined,
      'The function is not allowed to be used this way in an expression; function: size',
    ],
    ['contains(a, :v) = :v', { ':v': text('') }, 'Syntax error; token: "=", near: ") = :v"'],
    [
      'a = begins_with(a, :v)',
      { ':v': text('') },
      'The function is not allowed to be used this way in an expression; function: begins_with',
    ],
    [
      'a.b = a.b',
      undefined,
      'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a, b]',
    ],
    [
      'a < :v',
      { ':v': { BOOL: true } },
      'Incorrect operand type for operator or function; operator or function: <, operand type: BOOL',
    ],
    [
      'a BETWEEN :v AND :w',
      { ':v': number(2), ':w': number(1) },
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}',
    ],
    [
      'a BETWEEN :v AND :w',
      { ':v': number(2), ':w': text('3') },
      'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {S:3}',
    ],
  ])('%s as a condition', async (expression, values, message) => {
    expect(await refused('ConditionExpression', expression, values)).toBe(message);
  });

  it('with more than a hundred operands of IN', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 101 }, (_, index) => [`:v${index}`, number(index)]),
    );
    expect(await refused('ConditionExpression', `a IN (${Object.keys(values).join(', ')})`, values)).toBe(
      'Incorrect number of operands for operator or function; operator or function: IN, number of operands: 102',
    );
  });

  it('with more than 300 operators', async () => {
    const expression = Array.from({ length: 151 }, () => 'a = :v').join(' OR ');
    expect(await refused('ConditionExpression', expression, { ':v': text('') })).toBe(
      'The expression contains more operators than allowed; maximum number of operators: 300',
    );
  });

  it('of more than 4 KB', async () => {
    expect(await refused('ConditionExpression', `a = :${'v'.repeat(4_096)}`)).toBe(
      'Expression size has exceeded the maximum allowed size; expression size: 4101',
    );
  });

  it.each<[string, Wire | undefined, string]>([
    ['a = :v', { ':v': text('') }, 'Syntax error; token: "a", near: "a ="'],
    [
      'SET a = :v SET b = :v',
      { ':v': text('') },
      'The "SET" section can only be used once in an update expression;',
    ],
    [
      'SET a = :v REMOVE a.b',
      { ':v': text('') },
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]',
    ],
    [
      'SET a[0] = :v REMOVE a.b',
      { ':v': text('') },
      'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, [0]], path two: [a, b]',
    ],
    [
      'ADD a :v',
      { ':v': text('') },
      'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
    ],
    [
      'DELETE a :v',
      { ':v': number(1) },
      'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
    ],
    [
      'SET a = a + :v',
      { ':v': text('') },
      'Incorrect operand type for operator or function; operator or function: +, operand type: S',
    ],
    [
      'SET a = list_append(a, :v)',
      { ':v': text('') },
      'Incorrect operand type for operator or function; operator or function: list_append, operand type: S',
    ],
    [
      'SET a = if_not_exists(:v, :v)',
      { ':v': text('') },
      'Operator or function requires a document path; operator or function: if_not_exists',
    ],
    ['SET a = size(b)', undefined, 'Invalid function name; function: size'],
    [
      'SET p = :v',
      { ':v': text('') },
      'One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key',
    ],
    [
      'SET a = b',
      undefined,
      'The provided expression refers to an attribute that does not exist in the item',
    ],
    [
      'SET a.b = :v',
      { ':v': text('') },
      'The document path provided in the update expression is invalid for update',
    ],
    ['REMOVE a.b', undefined, 'The document path provided in the update expression is invalid for update'],
  ])('%s as an update', async (expression, values, message) => {
    expect(await refused('UpdateExpression', expression, values)).toBe(message);
  });

  it.each([
    ['SET n = n + :v', text('x')],
    ['ADD word :v', number(1)],
    ['ADD n :v', { SS: ['a'] }],
    ['DELETE words :v', { NS: ['1'] }],
    ['SET word = list_append(word, :v)', { L: [] }],
  ])('%s on an attribute of another type', async (UpdateExpression, value) => {
    const before = itemOf('a', 's', { n: text('no number'), word: text('w'), words: { SS: ['a'] } });
    const request = { Key: keyOf('a'), UpdateExpression, ExpressionAttributeValues: { ':v': value } };
    const isLiteral = UpdateExpression.includes('n + :v');
    expect(await refusalOf('UpdateItem', request, before)).toBe(
      isLiteral
        ? 'Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, operand type: S'
        : 'An operand in the update expression has an incorrect data type',
    );
  });

  it.each<[string, Wire, string]>([
    ['s = :v', { ':v': text('x') }, 'Query condition missed key schema element: p'],
    ['p > :v', { ':v': text('x') }, 'Query key condition not supported'],
    [
      'p = :v',
      { ':v': number(1) },
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
    ['p = :v', { ':v': text('') }, `${EMPTY_KEY} Key: p`],
    ['p = :v AND s > :w', { ':v': text('x'), ':w': text('') }, `${EMPTY_KEY} Key: s`],
    ['p = :v AND x = :v', { ':v': text('x') }, 'Query condition missed key schema element: s'],
    [
      'p = :v AND p = :v',
      { ':v': text('x') },
      'KeyConditionExpressions must only contain one condition per key',
    ],
    ['p = :v AND s <> :v', { ':v': text('x') }, 'Invalid operator used in KeyConditionExpression: <>'],
    ['p = :v OR s = :v', { ':v': text('x') }, 'Invalid operator used in KeyConditionExpression: OR'],
    [
      'p = :v AND contains(s, :v)',
      { ':v': text('x') },
      'Invalid operator used in KeyConditionExpression: contains',
    ],
    [
      'p = :v AND s.x = :v',
      { ':v': text('x') },
      'KeyConditionExpressions cannot have conditions on nested attributes',
    ],
    [
      'p = :v AND size(s) > :w',
      { ':v': text('x'), ':w': number(1) },
      'KeyConditionExpressions cannot contain nested operations',
    ],
  ])('%s as a key condition', async (expression, values, message) => {
    expect(await refused('KeyConditionExpression', expression, values)).toBe(message);
  });
});

describe('a request', () => {
  it.each<[string, string, Wire, string]>([
    [
      'of no table that is there',
      'GetItem',
      { TableName: 'none', Key: keyOf('a') },
      'ResourceNotFoundException: Requested resource not found',
    ],
    [
      'without its table',
      'GetItem',
      { TableName: null, Key: keyOf('a') },
      "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
    ],
    [
      'without its key',
      'GetItem',
      {},
      "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
    ],
    ['that does not exist', 'ExplodeItem', {}, 'UnknownOperationException: '],
    [
      'with a parameter that would have no effect here',
      'Query',
      { IndexName: 'i', KeyConditionExpression: 'p = :p', ExpressionAttributeValues: { ':p': text('a') } },
      'The emulator does not know the parameter IndexName',
    ],
    [
      'for values that a put does not return',
      'PutItem',
      { Item: keyOf('a'), ReturnValues: 'ALL_NEW' },
      'ReturnValues can only be ALL_OLD or NONE',
    ],
    [
      'for values that nothing returns',
      'UpdateItem',
      { Key: keyOf('a'), ReturnValues: 'ALL' },
      "1 validation error detected: Value 'ALL' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [NONE, ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATED_NEW]",
    ],
    [
      'for no items at all',
      'Scan',
      { Limit: 0 },
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    ],
    [
      'with text where a flag should be',
      'GetItem',
      { Key: keyOf('a'), ConsistentRead: 'yes' },
      'SerializationException: YES cannot be converted to Boolean',
    ],
    [
      'whose filter names the key',
      'Query',
      {
        KeyConditionExpression: 'p = :p',
        FilterExpression: 'attribute_exists(s)',
        ExpressionAttributeValues: { ':p': text('a') },
      },
      'Filter Expression can only contain non-primary key attributes: Primary key attribute: s',
    ],
  ])('%s', async (_what, operation, request, message) => {
    expect(await refusalOf(operation, request)).toBe(message);
  });

  it('that is refused leaves everything as it was', async () => {
    const { send } = await startDynamoDb();
    const wrong = { Key: keyOf('a'), ReturnValues: 'ALL' };
    await expect(send('UpdateItem', wrong)).rejects.toMatchObject({ status: 400 });
    expect(await send('GetItem', { Key: keyOf('a') })).toEqual({});
  });
});

it('knows the 573 reserved words, in any case', () => {
  for (const word of ['ABORT', 'name', 'Status', 'tTl', 'ZONE', 'row'])
    expect(isReservedWord(word)).toBe(true);
  for (const word of ['p', 's', 'client', 'topic']) expect(isReservedWord(word)).toBe(false);
});
