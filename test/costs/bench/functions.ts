import {
  type CloudOptions,
  composeCloud,
  createFanOutWorker,
  createTimerHandler,
  type FanOutWorkerOptions,
  QueueBacklog,
  SqsQueue,
  SqsTimers,
  SqsVisibility,
} from '@apus/aws/lambda';
import { type Clock, type Identity, type Log, readStreams } from '@apus/broker';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { bridgeFunctions } from './bridge-operations.ts';
import { RULES, rulesFunction } from './rule-operations.ts';
import { STREAMS } from './stream-operations.ts';

export const TABLE = 'apus';
export const SESSIONS_TABLE = 'apus-sessions';
export const STREAMS_TABLE = 'apus-streams';

/** Queues of a deployment, under the names that they have in a measurement. */
export const QUEUES = {
  fanOut: 'fan-out.fifo',
  fanOutDead: 'fan-out-dead.fifo',
  timers: 'timers',
  timersDead: 'timers-dead',
  rules: 'rules.fifo',
  iotCore: 'iot-core',
} as const;

const ANONYMOUS: Identity = { tenant: 'default', name: '' };

export interface FunctionParts {
  readonly dynamo: CloudOptions['dynamo'];
  readonly sqs: SQSClient;
  readonly queueUrl: (name: string) => string;
  readonly poster: CloudOptions['poster'] & FanOutWorkerOptions['poster'];
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1: it decides which of the sampled changes are written. */
  readonly random: () => number;
  readonly randomId: () => string;
  readonly failed: (what: string) => void;
  readonly postsPerSecond?: number;
  /**
   * Whether rules match messages, which then go to the rules' queue.
   * @default false
   */
  readonly hasRules?: boolean;
}

export type Functions = ReturnType<typeof composeFunctions>;

/** The functions of a deployment that handle messages, over the given services. */
export function composeFunctions(parts: FunctionParts) {
  const { sqs, queueUrl, poster, clock, sleep, random, randomId } = parts;
  const log = logInto(parts.failed);
  const queue = (name: string) => new SqsQueue({ client: sqs, queueUrl: queueUrl(name), sleep });
  const fanOutUrl = queueUrl(QUEUES.fanOut);
  const backlog = new QueueBacklog({ client: sqs, queueUrl: fanOutUrl, clock, log });
  const timers = new SqsTimers({ queue: queue(QUEUES.timers), clock });
  const world = { poster, clock, sleep, random, randomId, log };
  const cloud = composeCloud({
    ...world,
    dynamo: parts.dynamo,
    tableName: TABLE,
    sessionsTableName: SESSIONS_TABLE,
    streams: { declared: readStreams(STREAMS, 'streams'), tableName: STREAMS_TABLE },
    presence: { tableName: STREAMS_TABLE },
    fanOut: { queue: queue(QUEUES.fanOut), backlog },
    timers,
    livenessTimers: timers,
    authenticator: { authenticate: () => ANONYMOUS },
    ...(parts.hasRules === true && {
      rules: {
        filters: RULES.map(({ configuration }) => configuration),
        queue: queue(QUEUES.rules),
        // The queue's length is read every ten seconds. That is no part of an operation.
        backlog: { isFull: async () => false },
      },
    }),
    // For AUTH only: handshakes carry no token. Checking a signature takes processor time, which is not measured here.
    tokens: { verify: () => ANONYMOUS },
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
  });
  const { environment, stores, routes } = cloud;
  // Even in an environment that begins with the operation: the list is read every half minute, and time stands still.
  stores.bans.keep(undefined, clock.now());
  return {
    stores,
    routes,
    fanOut: createFanOutWorker({
      ...world,
      environment,
      subscriptions: stores.subscriptions,
      progress: stores.fanOutProgress,
      deadLetters: queue(QUEUES.fanOutDead),
      visibility: new SqsVisibility({ client: sqs, queueUrl: fanOutUrl, log }),
      ...(parts.postsPerSecond !== undefined && { limits: { postsPerSecond: parts.postsPerSecond } }),
    }),
    bridges: () => bridgeFunctions(environment, parts),
    rules: () =>
      rulesFunction(parts, new SqsVisibility({ client: sqs, queueUrl: queueUrl(QUEUES.rules), log })),
    timers: createTimerHandler({ cloud, timers, deadLetters: queue(QUEUES.timersDead), clock, log }),
  };
}

/** Reports warnings and errors as failures: a run that logs one does not measure the ordinary case. */
function logInto(failed: (what: string) => void): Log {
  const say = (event: string, fields?: object) => failed(`${event} ${JSON.stringify(fields)}`);
  return { debug: () => {}, info: () => {}, warn: say, error: say };
}
