import { setTimeout as sleepFor } from 'node:timers/promises';
import { ALIVE_FRAME, FRAME_ROUTES, SignedPoster, SUBPROTOCOL_ACCEPTED } from '@apus/aws';
import {
  createDynamoDb,
  type DynamoDb,
  type Emulator,
  type Environment,
  type Handler,
  ManualClock,
  startEmulator,
} from '@apus/emulated-aws';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { TextClient } from '../../support/text-client.ts';
import {
  composeFunctions,
  type Functions,
  QUEUES,
  SESSIONS_TABLE,
  STREAMS_TABLE,
  TABLE,
} from './functions.ts';
import type { Trace } from './trace.ts';
import { type BenchClient, type Counted, type CountingWorld, OFFER, protocolsWith } from './world.ts';

const WORKER_SECONDS = 30;

/** The samplers choose no change: they write at most 1 in 32. */
const NEVER_SAMPLED = () => 0.99;

/**
 * Steps by which the clock moves while work waits. They are far below the gateway's idle timeout, whatever the load of
 * the machine.
 */
const STEP_MS = 50;

/**
 * Sockets, the gateway, every function and every service, in this process.
 *
 * @param trace notes what functions do. @default nothing does
 */
export async function startGatewayWorld(seed: number, trace?: Trace): Promise<CountingWorld> {
  const clock = new ManualClock();
  const failures: string[] = [];
  const failed = (what: string) => failures.push(what);
  const dynamoDb = createDynamoDb({ seed, clock });
  const client = new DynamoDBClient(dynamoDb.clientConfig());
  for (const name of [TABLE, SESSIONS_TABLE, STREAMS_TABLE])
    await client.send(new CreateTableCommand(defineTable(name)));
  const compose = (environment: Environment) => {
    const functions = functionsOf(environment, running(), dynamoDb, failed, trace);
    return trace === undefined ? functions : traced(functions, trace);
  };
  let started: Emulator | undefined;
  const running = () => {
    if (started === undefined) throw new Error('the emulator has not started');
    return started;
  };
  const fifo = {
    fifo: true,
    deduplicationScope: 'messageGroup',
    fifoThroughputLimit: 'perMessageGroupId',
  } as const;
  const worker = { timeoutMs: WORKER_SECONDS * 1_000 };
  started = await startEmulator({
    routes: FRAME_ROUTES,
    seed,
    clock,
    // The counts are those of an ordinary run: no call is throttled.
    limits: {
      newConnectionsPerSecond: Number.POSITIVE_INFINITY,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      requestsBurst: Number.POSITIVE_INFINITY,
    },
    onInvocationError: (error) => failed(error.stack ?? error.message),
    queues: [
      { name: QUEUES.fanOutDead, fifo: true },
      { name: QUEUES.timersDead },
      { name: QUEUES.fanOut, ...fifo, visibilityTimeoutSeconds: WORKER_SECONDS },
      { name: QUEUES.timers, visibilityTimeoutSeconds: WORKER_SECONDS },
      { name: QUEUES.rules, ...fifo, visibilityTimeoutSeconds: WORKER_SECONDS },
      { name: QUEUES.iotCore, visibilityTimeoutSeconds: WORKER_SECONDS },
    ],
    functions: [
      {
        functionName: 'kafka',
        ...worker,
        createEnvironment: (environment) => compose(environment).bridges().kafka as Handler<unknown, unknown>,
      },
    ],
    createEnvironment: (environment) => compose(environment).routes,
    eventSources: [
      {
        queue: QUEUES.fanOut,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => compose(environment).fanOut },
      },
      {
        queue: QUEUES.timers,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => compose(environment).timers },
      },
      {
        queue: QUEUES.rules,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => compose(environment).rules() },
      },
      {
        queue: QUEUES.iotCore,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => compose(environment).bridges().iotCore },
      },
    ],
  });
  const emulator = started;
  const iotRule = new SQSClient(emulator.sqs.clientConfig());
  const iotQueue = emulator.sqs.queueUrl(QUEUES.iotCore);
  /** Eventually consistent, as the sweep reads (store-dynamodb/src/sweep/scan.ts). */
  const scanned = async (name: string) => {
    let units = 0;
    let next: ScanCommand['input']['ExclusiveStartKey'];
    do {
      const page = await client.send(
        new ScanCommand({ TableName: name, ExclusiveStartKey: next, ReturnConsumedCapacity: 'TOTAL' }),
      );
      units += page.ConsumedCapacity?.CapacityUnits ?? Number.NaN;
      next = page.LastEvaluatedKey;
    } while (next !== undefined);
    return units;
  };
  const sent = { frames: 0, closes: 0 };
  /** Waits until all frames of clients have arrived, and the work that they cause is done. */
  const quiet = async () => {
    const hasArrived = () => {
      const { messages, invocations } = emulator.counters.snapshot();
      return messages.in.count >= sent.frames && (invocations.$disconnect?.count ?? 0) >= sent.closes;
    };
    do await emulator.quiet();
    while (!hasArrived());
  };
  return {
    open: async () => benchClient(await TextClient.open(emulator.url, 5, OFFER), sent),
    async openWith(connect) {
      const client = await TextClient.open(emulator.url, 5, '', protocolsWith(connect));
      if (client.subprotocol !== SUBPROTOCOL_ACCEPTED) throw new Error('CONNECT was not accepted');
      return benchClient(client, sent);
    },
    quiet,
    async pass(milliseconds) {
      await clock.advance(milliseconds);
      await quiet();
    },
    async whileTimePasses(waiting) {
      let isOver = false;
      const over = waiting.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        // Sockets need the machine's time as well.
        await sleepFor(1);
        await clock.advance(STEP_MS);
      }
      return await over;
    },
    async bring(from, what) {
      if (from === 'kafka') await emulator.invoke('kafka', what);
      else
        await iotRule.send(new SendMessageCommand({ QueueUrl: iotQueue, MessageBody: JSON.stringify(what) }));
    },
    coolDown: () => emulator.retireIdleEnvironments(),
    reset() {
      sent.frames = 0;
      sent.closes = 0;
      emulator.counters.reset();
      dynamoDb.counters.reset();
    },
    counted: () => countedOf(emulator, dynamoDb),
    scanned: async () => ({ sessions: await scanned(SESSIONS_TABLE), messages: await scanned(TABLE) }),
    failures,
    stop: () => emulator.stop(),
  };
}

function functionsOf(
  environment: Environment,
  { sqs }: Emulator,
  dynamoDb: DynamoDb,
  failed: (what: string) => void,
  trace: Trace | undefined,
): Functions {
  const { clock, variables } = environment;
  const dynamo = new DynamoDBClient(dynamoDb.clientConfig(environment));
  const queues = new SQSClient(sqs.clientConfig(environment));
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
  let ids = 0;
  return composeFunctions({
    dynamo: trace?.watchDynamo(dynamo) ?? dynamo,
    sqs: trace?.watchSqs(queues) ?? queues,
    queueUrl: (name) => sqs.queueUrl(name),
    poster: new SignedPoster({
      endpoint: environment.managementEndpoint,
      region: variables.AWS_REGION ?? '',
      credentials: {
        accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
        sessionToken: variables.AWS_SESSION_TOKEN,
      },
      // The emulator checks signatures by the machine's time, not by its own clock.
      clock: { now: Date.now },
      sleep,
    }),
    clock,
    sleep,
    random: NEVER_SAMPLED,
    randomId: () => `${environment.id}-${(ids++).toString(36)}`,
    failed,
    // Time stands still: with a pace, the worker would wait for it.
    postsPerSecond: 1_000_000,
    hasRules: true,
  });
}

/** The functions that the operations of sessions and messages invoke. */
function traced(functions: Functions, trace: Trace): Functions {
  const { routes, fanOut, timers } = functions;
  const watched = Object.entries(routes).map(([name, handler]) => [
    name,
    trace.invocationOf(name, handler as Handler<unknown, unknown>),
  ]);
  return {
    ...functions,
    routes: Object.fromEntries(watched) as Functions['routes'],
    fanOut: trace.invocationOf('fan-out', fanOut as Handler<unknown, unknown>) as Functions['fanOut'],
    timers: trace.invocationOf('timers', timers as Handler<unknown, unknown>) as Functions['timers'],
  };
}

function benchClient(client: TextClient, sent: { frames: number; closes: number }): BenchClient {
  return {
    exchange(...packets) {
      sent.frames += 1;
      return client.exchange(...packets);
    },
    tell(...packets) {
      sent.frames += 1;
      client.send(packets, ',');
    },
    live() {
      sent.frames += 1;
      client.sendText(ALIVE_FRAME);
    },
    move(ticket) {
      sent.frames += 1;
      // The server cuts the connection that the session leaves.
      sent.closes += 1;
      client.sendText(`~${ticket}`);
      return client.replies.next();
    },
    resume(ticket) {
      sent.frames += 1;
      client.sendText(`~!${ticket}`);
      return client.replies.next();
    },
    nextPush: () => client.pushes.next(),
    close(code) {
      sent.closes += 1;
      client.close(code);
    },
    vanish() {
      sent.closes += 1;
      return client.vanish();
    },
  };
}

/** Polls of an idle event source are no part of an operation: they are paid for at rest. */
function countedOf(emulator: Emulator, dynamoDb: DynamoDb): Counted {
  const { messages, lambda, sqs } = emulator.counters.snapshot();
  const { total } = dynamoDb.counters.snapshot();
  return {
    messagesIn: messages.in.billed,
    messagesOut: messages.replies.billed + messages.posts.billed + messages.errors.billed,
    posts: messages.posts.count,
    readUnits: total.readUnits,
    writeUnits: total.writeUnits,
    sqsFifoRequests: sqs.billed.fifo - sqs.idlePolls.fifo,
    sqsStandardRequests: sqs.billed.standard - sqs.idlePolls.standard,
    invocations: lambda.invocations,
    bytesOut: messages.replies.bytes + messages.posts.bytes + messages.errors.bytes,
  };
}
