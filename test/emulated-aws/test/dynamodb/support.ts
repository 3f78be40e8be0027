import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDb, type DynamoDb, type DynamoDbOptions, ManualClock } from '../../src/index.ts';

export const TABLE = 'things';

/** The JSON of a request or an answer. */
export type Wire = Record<string, unknown>;

export interface Started {
  readonly dynamoDb: DynamoDb;
  readonly clock: ManualClock;
  readonly client: DynamoDBClient;
  /** A request on the table as it travels, and what its answer holds. Throws an `AnswerError` where it is not 200. */
  send(operation: string, request?: Wire): Promise<Wire>;
}

/** An answer that is not 200. */
export class AnswerError extends Error {
  readonly status: number;
  readonly body: Wire;

  constructor(status: number, body: Wire) {
    super(String(body.message));
    this.name = String(body.__type).split('#')[1] ?? '';
    this.status = status;
    this.body = body;
  }
}

/** A DynamoDB in memory with one table: partition key `p` and sort key `s`, both strings unless it is said otherwise. */
export async function startDynamoDb(
  options: DynamoDbOptions = {},
  keyTypes: { readonly p?: 'S' | 'N' | 'B'; readonly s?: 'S' | 'N' | 'B' | 'none' } = {},
): Promise<Started> {
  const { p = 'S', s = 'S' } = keyTypes;
  const clock = new ManualClock();
  const dynamoDb = createDynamoDb({ clock, seed: 1, ...options });
  const client = new DynamoDBClient(dynamoDb.clientConfig());
  await client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'p', AttributeType: p },
        ...(s === 'none' ? [] : [{ AttributeName: 's', AttributeType: s }]),
      ],
      KeySchema: [
        { AttributeName: 'p', KeyType: 'HASH' },
        ...(s === 'none' ? [] : [{ AttributeName: 's', KeyType: 'RANGE' as const }]),
      ],
    }),
  );
  const handler = dynamoDb.requestHandler();
  const send = async (operation: string, request: Wire = {}) => {
    const { response } = await handler.handle({
      headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
      body: JSON.stringify(
        'RequestItems' in request || 'TransactItems' in request ? request : { TableName: TABLE, ...request },
      ),
    });
    const body: Wire = JSON.parse(Buffer.from(response.body).toString());
    if (response.statusCode !== 200) throw new AnswerError(response.statusCode, body);
    return body;
  };
  return { dynamoDb, clock, client, send };
}

export const text = (value: string) => ({ S: value });
export const number = (value: number | string) => ({ N: String(value) });

export const keyOf = (p: string, s = 's') => ({ p: text(p), s: text(s) });

/** A key with further attributes. */
export const itemOf = (p: string, s: string, attributes: Wire = {}) => ({ ...keyOf(p, s), ...attributes });
