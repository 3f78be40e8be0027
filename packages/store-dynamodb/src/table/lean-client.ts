import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { readPlainly } from './plain-answers.ts';

/**
 * A client for `createDynamoStores` without work of the SDK that these stores do not need, a good tenth of the CPU of a
 * worker that reads a shard. For each call the SDK assembles its middleware anew, copies input and output for its
 * logger, even for one that logs nothing, and walks each answer by a schema. This client does not retry: the stores do.
 */
export function leanClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({ maxAttempts: 1, cacheMiddleware: true, ...config });
  client.middlewareStack.remove('loggerMiddleware');
  readPlainly(client);
  return client;
}
