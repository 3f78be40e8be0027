import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDynamoDb, createSqs } from '@apus/emulated-aws';
import { QUEUES } from './functions.ts';

/** The addresses at which the measured process finds the services. */
export interface Endpoints {
  readonly endpoint: string;
  readonly queueUrls: Readonly<Record<string, string>>;
}

type Handle = ReturnType<ReturnType<typeof createDynamoDb>['requestHandler']>['handle'];

/**
 * DynamoDB, SQS and @connections over HTTP on the loopback interface, in a process of their own, so that their work
 * does not count as the handlers'.
 */
async function serve(): Promise<void> {
  const sqs = createSqs({ seed: 1 });
  sqs.createQueue({ name: QUEUES.fanOutDead, fifo: true });
  sqs.createQueue({ name: QUEUES.timersDead });
  sqs.createQueue({
    name: QUEUES.fanOut,
    fifo: true,
    deduplicationScope: 'messageGroup',
    fifoThroughputLimit: 'perMessageGroupId',
  });
  sqs.createQueue({ name: QUEUES.timers });
  const dynamoHandler = createDynamoDb({ seed: 1 }).requestHandler();
  const sqsHandler = sqs.requestHandler();
  const handles: Readonly<Record<string, Handle>> = {
    DynamoDB: (request) => dynamoHandler.handle(request),
    AmazonSQS: (request) => sqsHandler.handle(request),
  };
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    answer(handles, request, response).catch((error) => {
      process.stderr.write(`${error}\n`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const queueUrls = Object.fromEntries(Object.values(QUEUES).map((name) => [name, sqs.queueUrl(name)]));
  process.send?.({ endpoint, queueUrls } satisfies Endpoints);
  // Its parent process has ended.
  process.once('disconnect', () => process.exit());
}

async function answer(
  handles: Readonly<Record<string, Handle>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const target = String(request.headers['x-amz-target'] ?? '');
  const handle = Object.entries(handles).find(([service]) => target.startsWith(service))?.[1];
  if (handle === undefined) {
    // A post to a connection.
    response.writeHead(200).end();
    return;
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const { response: given } = await handle({ headers, body: Buffer.concat(chunks) });
  response.writeHead(given.statusCode, given.headers).end(given.body);
}

await serve();
