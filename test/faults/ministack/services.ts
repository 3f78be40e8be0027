import type { Environment } from '@apus/emulated-aws';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { FAN_OUT, FAN_OUT_DEAD, SESSIONS_TABLE, TABLE, TIMERS, TIMERS_DEAD } from '../../cloud/names.ts';
import { type Ministack, startMinistackService } from '../../support/ministack.ts';

const CALLER = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
};

const FIFO = {
  FifoQueue: 'true',
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
};

/** Third-party DynamoDB and SQS, each in a process of its own, behind their HTTP endpoints. */
export class MinistackServices {
  readonly #dynamoDb: Ministack;
  readonly #sqs: Ministack;
  readonly #queueUrls = new Map<string, string>();
  readonly #clients: { destroy(): void }[] = [];

  private constructor(dynamoDb: Ministack, sqs: Ministack) {
    this.#dynamoDb = dynamoDb;
    this.#sqs = sqs;
  }

  static async start(visibilitySeconds: number): Promise<MinistackServices> {
    const [dynamoDb, sqs] = await Promise.all([
      startMinistackService('dynamodb'),
      startMinistackService('sqs'),
    ]);
    const services = new MinistackServices(dynamoDb, sqs);
    for (const name of [TABLE, SESSIONS_TABLE])
      await services.dynamo(undefined).send(new CreateTableCommand(defineTable(name)));
    const client = services.sqs(undefined);
    const visible = { VisibilityTimeout: String(visibilitySeconds) };
    for (const [QueueName, Attributes] of [
      [FAN_OUT_DEAD, FIFO],
      [TIMERS_DEAD, {}],
      [FAN_OUT, { ...FIFO, ...visible }],
      [TIMERS, visible],
    ] as const) {
      const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
      services.#queueUrls.set(QueueName, QueueUrl ?? '');
    }
    return services;
  }

  queueUrl(name: string): string {
    const url = this.#queueUrls.get(name);
    if (url === undefined) throw new Error(`expected a queue ${name}`);
    return url;
  }

  /** A client of an execution environment, which may die before and after each call; or of the test. */
  dynamo(environment: Environment | undefined): DynamoDBClient {
    const client = new DynamoDBClient({ ...CALLER, endpoint: this.#dynamoDb.endpoint });
    this.#clients.push(client);
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (call) =>
          await through(environment, `dynamodb:${commandName}`, () => next(call)),
      { step: 'initialize' },
    );
    return client;
  }

  sqs(environment: Environment | undefined): SQSClient {
    const client = new SQSClient({ ...CALLER, endpoint: this.#sqs.endpoint });
    this.#clients.push(client);
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (call) =>
          await through(environment, `sqs:${commandName}`, () => next(call)),
      { step: 'initialize' },
    );
    return client;
  }

  /** Messages in a queue, including those in flight. */
  async depth(name: string): Promise<number> {
    const { Attributes = {} } = await this.sqs(undefined).send(
      new GetQueueAttributesCommand({ QueueUrl: this.queueUrl(name), AttributeNames: ['All'] }),
    );
    const { ApproximateNumberOfMessages = '0', ApproximateNumberOfMessagesNotVisible = '0' } = Attributes;
    return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await Promise.all([this.#dynamoDb.stop(), this.#sqs.stop()]);
  }
}

async function through<T>(
  environment: Environment | undefined,
  name: string,
  call: () => Promise<T>,
): Promise<T> {
  await environment?.checkpoint(`${name}:before`);
  // An environment that died meanwhile gets neither an answer nor an error.
  try {
    return await call();
  } finally {
    await environment?.checkpoint(`${name}:after`);
  }
}
