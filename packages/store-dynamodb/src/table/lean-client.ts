import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { readPlainly } from './plain-answers.ts';

/**
 * A client for `createDynamoStores` that leaves out what the SDK does for nobody, a good tenth of the CPU of a worker
 * that reads a shard: for each call it puts its middleware together anew, and prepares a copy of input and output for
 * its logger, also for the one that says nothing; and what it reads it goes through by a schema. It does not try again
 * by itself: the stores do.
 */
export function leanClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({ maxAttempts: 1, cacheMiddleware: true, ...config });
  client.middlewareStack.remove('loggerMiddleware');
  readPlainly(client);
  return client;
}
