import { SignedPoster } from '@apus/aws';
import {
  type CloudOptions,
  composeCloud,
  createPublishFunction,
  type PublishFunction,
  QueueBacklog,
  SqsQueue,
} from '@apus/aws/lambda';
import { leanClient } from '@apus/store-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { FAN_OUT, SESSIONS_TABLE, TABLE } from './names.ts';
import type { CloudWorld } from './start-cloud.ts';

const KEY = 'a-key-of-a-backend-of-thirty-two-or-more-characters';

/** A backend of the deployment's owner: posts JSON to a path of the publish endpoint. */
export type Backend = (path: string, body: unknown) => Promise<{ status: number; body: unknown }>;

/** @param options those of the deployment that its function has as well */
export function backendOf(
  world: CloudWorld,
  options: Partial<Pick<CloudOptions, 'stores' | 'payloads'>> = {},
): Backend {
  const publish = publishFunction(world, options);
  return async (path, body) => {
    const event = {
      rawPath: path,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
      body: JSON.stringify(body),
      requestContext: { http: { method: 'POST' } },
    };
    const answer = await publish(event, { getRemainingTimeInMillis: () => 29_000 });
    return { status: answer.statusCode, body: JSON.parse(answer.body) };
  };
}

/** The function of the endpoint, over the services of the deployment. */
function publishFunction(
  { emulator, dynamoDb }: CloudWorld,
  options: Partial<Pick<CloudOptions, 'stores' | 'payloads'>>,
): PublishFunction {
  const { sqs, managementEndpoint: endpoint, region, credentials } = emulator;
  const clock = { now: Date.now };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const client = new SQSClient(sqs.clientConfig());
  const queueUrl = sqs.queueUrl(FAN_OUT);
  let ids = 0;
  const cloud = composeCloud({
    dynamo: leanClient(dynamoDb.clientConfig()),
    tableName: TABLE,
    sessionsTableName: SESSIONS_TABLE,
    fanOut: {
      queue: new SqsQueue({ client, queueUrl, sleep }),
      backlog: new QueueBacklog({ client, queueUrl, clock, log }),
    },
    timers: { set: () => {}, cancel: () => {} },
    poster: new SignedPoster({ endpoint, region, credentials, clock, sleep }),
    clock,
    sleep,
    random: Math.random,
    randomId: () => `publish-${(ids++).toString(36)}`,
    log,
    authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
    ...options,
  });
  return createPublishFunction({ environment: cloud.environment, clock, readKeys: async () => KEY });
}
