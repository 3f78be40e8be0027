import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { serializeLeanly } from './lean-serde.ts';
import { readPlainly } from './plain-answers.ts';

/** The SDK would make a longer one for each call, from the features that the call uses. */
const USER_AGENT = 'apus aws-sdk-js';

/**
 * A client for `createDynamoStores` that leaves out work of the SDK: a good tenth of the CPU of a worker that reads a
 * shard. For each call the SDK assembles its middleware anew, copies input and output for its logger, even for one
 * that logs nothing, copies its configuration, counts attempts, and walks each answer by a schema. This client does
 * not retry: the stores do.
 */
export function leanClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({ cacheMiddleware: true, ...config, maxAttempts: 1 });
  const { middlewareStack } = client;
  middlewareStack.remove('loggerMiddleware');
  // This middleware looks for a function that calls itself, which DynamoDB never does.
  middlewareStack.remove('recursionDetectionMiddleware');
  // The signing middleware is inserted after this one, so it has to exist.
  middlewareStack.add((next) => next, {
    name: 'retryMiddleware',
    step: 'finalizeRequest',
    priority: 'high',
    override: true,
  });
  middlewareStack.add(
    (next) => async (args) => {
      (args.request as { readonly headers: Record<string, string> }).headers['user-agent'] = USER_AGENT;
      return await next(args);
    },
    { name: 'getUserAgentMiddleware', step: 'build', priority: 'low', override: true },
  );
  serializeLeanly(client);
  readPlainly(client);
  return client;
}
