import { createDynamoDb } from '@apus/emulated-aws';
import {
  type AttributeValue,
  BatchGetItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { defineTable, leanClient } from '../../src/index.ts';

const TableName = 'lean';
const bytes = (...each: number[]): Uint8Array => Uint8Array.from(each);

/** Every kind of value, also within others. */
const KINDS: Record<string, AttributeValue> = {
  text: { S: 'B' },
  empty: { S: '' },
  number: { N: '1.5' },
  bytes: { B: bytes(0, 255, 1) },
  noBytes: { B: bytes() },
  texts: { SS: ['a', 'b'] },
  numbers: { NS: ['1', '2'] },
  manyBytes: { BS: [bytes(1), bytes(2, 3)] },
  list: { L: [{ B: bytes(4) }, { L: [{ B: bytes(5) }] }, { S: 'x' }] },
  map: { M: { B: { B: bytes(6) }, M: { M: { b: { B: bytes(7) } } } } },
  yes: { BOOL: true },
  nothing: { NULL: true },
};

const dynamoDb = createDynamoDb({ seed: 1 });
const ordinary = new DynamoDBClient(dynamoDb.clientConfig());
const lean = leanClient(dynamoDb.clientConfig());

beforeAll(async () => {
  await ordinary.send(new CreateTableCommand(defineTable(TableName)));
  for (const s of ['1', '2', '3'])
    await ordinary.send(new PutItemCommand({ TableName, Item: { p: { S: 'p' }, s: { S: s }, ...KINDS } }));
});

const query = {
  TableName,
  KeyConditionExpression: 'p = :p',
  ExpressionAttributeValues: { ':p': { S: 'p' } },
  ReturnConsumedCapacity: 'TOTAL',
} as const;

describe('the client that reads large answers plainly', () => {
  it.each([
    ['a Query', () => new QueryCommand(query)],
    ['a page of one', () => new QueryCommand({ ...query, Limit: 2 })],
    [
      'a Query that finds nothing',
      () => new QueryCommand({ ...query, ExpressionAttributeValues: { ':p': { S: 'q' } } }),
    ],
    ['a Scan', () => new ScanCommand({ TableName, Limit: 1 })],
  ])('answers as the SDK does: %s', async (_name, command) => {
    const [plain, expected] = [await lean.send(command()), await ordinary.send(command())];
    expect(alike(plain)).toEqual(alike(expected));
    expect(plain.$metadata.httpStatusCode).toBe(200);
  });

  it('answers as the SDK does: a BatchGetItem', async () => {
    const Keys = ['1', '3', '4'].map((s) => ({ p: { S: 'p' }, s: { S: s } }));
    const command = () => new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } });
    expect(alike(await lean.send(command()))).toEqual(alike(await ordinary.send(command())));
  });

  it('tells calls that are made at the same time from each other', async () => {
    const keys = ['1', '2', '3'];
    const answers = await Promise.all(
      keys.map((s) =>
        lean.send(
          new QueryCommand({
            ...query,
            KeyConditionExpression: 'p = :p AND s = :s',
            ExpressionAttributeValues: { ':p': { S: 'p' }, ':s': { S: s } },
          }),
        ),
      ),
    );
    expect(answers.map(({ Items = [] }) => Items.map(({ s }) => s?.S))).toEqual(keys.map((s) => [s]));
  });

  it('calls once, signs, and says who it is', async () => {
    const requests: { readonly headers: Readonly<Record<string, string>> }[] = [];
    const requestHandler = {
      async handle(request: (typeof requests)[number]): Promise<never> {
        requests.push(request);
        throw Object.assign(new Error('The connection broke'), { name: 'TimeoutError' });
      },
    };
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const client = leanClient({ region: 'eu-west-1', credentials, requestHandler, maxAttempts: 3 });
    await expect(client.send(new QueryCommand(query))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(requests.map(({ headers }) => headers)).toEqual([
      expect.objectContaining({
        'user-agent': 'apus aws-sdk-js',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=key\/\d+\/eu-west-1\/dynamodb\/aws4_request, /,
        ),
      }),
    ]);
  });

  it('throws as the SDK does', async () => {
    const missing = lean.send(new QueryCommand({ ...query, TableName: 'missing' }));
    await expect(missing).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  it('an answer that is no JSON, as from a proxy, throws with its status', async () => {
    const requestHandler = {
      handle: async () => ({
        response: { statusCode: 502, headers: {}, body: Buffer.from('<html>Bad Gateway</html>') },
      }),
    } as unknown as NonNullable<Parameters<typeof leanClient>[0]>['requestHandler'];
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const client = leanClient({
      region: 'eu-west-1',
      credentials,
      ...(requestHandler && { requestHandler }),
    });
    await expect(client.send(new QueryCommand(query))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 502 },
    });
  });
});

/** The answer without its metadata, and with one kind of byte array. */
function alike({ $metadata: _, ...answer }: { readonly $metadata: unknown }): unknown {
  return JSON.parse(
    JSON.stringify(answer, (_name, value: unknown) =>
      value instanceof Uint8Array ? { bytes: [...value] } : value,
    ),
  );
}
