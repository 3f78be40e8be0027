import type { Clock, Log } from '@apus/broker';
import { SignedPoster } from '@apus/cloud';
import {
  type Cloud,
  composeCloud,
  createFanOutWorker,
  createSweep,
  createTimerHandler,
  QueueBacklog,
  QueuedFanOut,
  SqsQueue,
  SqsTimers,
  SqsVisibility,
} from '@apus/cloud/lambda';
import {
  createDynamoDb,
  type DynamoDb,
  type DynamoDbFaults,
  type Emulator,
  type Environment,
  type Faults,
  startEmulator,
} from '@apus/emulator';
import { defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';

const TABLE = 'apus';
const FAN_OUT = 'fan-out.fifo';
const FAN_OUT_DEAD = 'fan-out-dead.fifo';
const TIMERS = 'timers';
const TIMERS_DEAD = 'timers-dead';
const SWEEP_SECONDS = 600;
const WORKER_SECONDS = 30;

export interface CloudWorldOptions {
  readonly seed: number;
  readonly clock?: Clock & NonNullable<Parameters<typeof startEmulator>[0]['clock']>;
  readonly faults?: Faults;
  readonly dynamoFaults?: DynamoDbFaults;
  /** Subscribers of a filter that its head holds. @default the store's own */
  readonly inlineSubscribersMax?: number;
  readonly shardSubscribers?: number;
  /** Timeout of the workers, and visibility timeout of their queues. @default 30 */
  readonly workerSeconds?: number;
}

/** The whole of a deployment in this process: every function, behind the emulators of every service. */
export interface CloudWorld {
  readonly url: string;
  readonly emulator: Emulator;
  readonly dynamoDb: DynamoDb;
  /** What functions threw, and errors of their logs. */
  readonly failures: string[];
  /** Messages in the dead-letter queues. */
  deadLetters(): number;
  stop(): Promise<void>;
}

export async function startCloud(options: CloudWorldOptions): Promise<CloudWorld> {
  const { seed, clock, workerSeconds = WORKER_SECONDS } = options;
  const failures: string[] = [];
  const dynamoDb = createDynamoDb({
    seed,
    ...(clock !== undefined && { clock }),
    ...(options.dynamoFaults !== undefined && { faults: options.dynamoFaults }),
  });
  await new DynamoDBClient(dynamoDb.clientConfig()).send(new CreateTableCommand(defineTable(TABLE)));
  const log = logInto(failures);
  const make = (environment: Environment) => functionsOf(environment, running(), dynamoDb, log, options);
  let started: Emulator | undefined;
  const running = () => {
    if (started === undefined) throw new Error('the emulator has not started');
    return started;
  };
  const worker = { timeoutMs: workerSeconds * 1000 };
  started = await startEmulator({
    seed,
    ...(clock !== undefined && { clock }),
    ...(options.faults !== undefined && { faults: options.faults }),
    onInvocationError: (error) => failures.push(error.stack ?? error.message),
    queues: [
      { name: FAN_OUT_DEAD, fifo: true },
      { name: TIMERS_DEAD },
      {
        name: FAN_OUT,
        fifo: true,
        deduplicationScope: 'messageGroup',
        fifoThroughputLimit: 'perMessageGroupId',
        visibilityTimeoutSeconds: workerSeconds,
        redrive: { deadLetterQueue: FAN_OUT_DEAD, maxReceiveCount: 1_000 },
      },
      {
        name: TIMERS,
        visibilityTimeoutSeconds: workerSeconds,
        redrive: { deadLetterQueue: TIMERS_DEAD, maxReceiveCount: 1_000 },
      },
    ],
    createEnvironment: (environment) => make(environment).cloud.routes,
    eventSources: [
      {
        queue: FAN_OUT,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => make(environment).fanOut() },
      },
      {
        queue: TIMERS,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => make(environment).timers() },
      },
    ],
    schedules: [
      {
        rateSeconds: SWEEP_SECONDS,
        function: {
          functionName: 'apus-sweep',
          timeoutMs: 60_000,
          createEnvironment: (environment) => make(environment).sweep(),
        },
      },
    ],
  });
  const emulator = started;
  return {
    url: emulator.url,
    emulator,
    dynamoDb,
    failures,
    deadLetters: () =>
      [FAN_OUT_DEAD, TIMERS_DEAD].reduce((sum, name) => sum + emulator.sqs.depth(name).available, 0),
    stop: () => emulator.stop(),
  };
}

/** What one execution environment is made of, over the clients that belong to it. */
function functionsOf(
  environment: Environment,
  { sqs }: Emulator,
  dynamoDb: DynamoDb,
  log: Log,
  options: CloudWorldOptions,
) {
  const { clock, variables } = environment;
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
  const random = Math.random;
  let ids = 0;
  const randomId = () => `${environment.id}-${(ids++).toString(36)}`;
  const client = new SQSClient(sqs.clientConfig(environment));
  const queue = (name: string) => new SqsQueue({ client, queueUrl: sqs.queueUrl(name), sleep });
  const poster = new SignedPoster({
    endpoint: environment.managementEndpoint,
    region: variables.AWS_REGION ?? '',
    credentials: {
      accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
      sessionToken: variables.AWS_SESSION_TOKEN,
    },
    clock: { now: Date.now },
    sleep,
  });
  const timers = new SqsTimers({ queue: queue(TIMERS), clock });
  const backlog = new QueueBacklog({ client, queueUrl: sqs.queueUrl(FAN_OUT), clock, log });
  const cloud: Cloud = composeCloud({
    dynamo: new DynamoDBClient(dynamoDb.clientConfig(environment)),
    tableName: TABLE,
    fanOut: new QueuedFanOut(queue(FAN_OUT), backlog),
    timers,
    livenessTimers: timers,
    poster,
    clock,
    sleep,
    random,
    randomId,
    log,
    authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
    stores: {
      ...(options.inlineSubscribersMax !== undefined && {
        inlineSubscribersMax: options.inlineSubscribersMax,
      }),
      ...(options.shardSubscribers !== undefined && { shardSubscribers: options.shardSubscribers }),
    },
  });
  const { stores, liveness } = cloud;
  return {
    cloud,
    fanOut: () =>
      createFanOutWorker({
        environment: cloud.environment,
        poster,
        subscriptions: stores.subscriptions,
        progress: stores.fanOutProgress,
        deadLetters: queue(FAN_OUT_DEAD),
        visibility: new SqsVisibility({ client, queueUrl: sqs.queueUrl(FAN_OUT), log }),
        clock,
        sleep,
        random,
        randomId,
        log,
      }),
    timers: () => {
      if (liveness === undefined) throw new Error('no timers');
      const deadLetters = queue(TIMERS_DEAD);
      return createTimerHandler({
        environment: cloud.environment,
        timers,
        liveness,
        deadLetters,
        clock,
        log,
      });
    },
    sweep: () =>
      createSweep({
        environment: cloud.environment,
        scan: stores.sweepScan,
        sessions: stores.sessions,
        clock,
        log,
      }),
  };
}

function logInto(failures: string[]): Log {
  return {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (event, fields) => failures.push(`${event} ${JSON.stringify(fields)}`),
  };
}
