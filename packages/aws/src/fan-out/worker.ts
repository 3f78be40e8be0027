import type { Clock, Log } from '@apus/broker';
import type { FanOutProgress } from '@apus/store-dynamodb';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import type { SqsBatchResponse, SqsEvent } from '../events/sqs.ts';
import { refreshBans } from '../identity/refresh-bans.ts';
import type { PostAttempts, Poster } from '../posts/poster.ts';
import { BatchWork } from './batch-work.ts';
import type { JobQueue } from './job-queue.ts';
import { BehindMarks, type HeadMarks } from './lag.ts';
import type { FanOutMetrics } from './metrics.ts';
import { GatewayState } from './posts.ts';
import type { ShardReader } from './slice-reader.ts';
import type { Visibility } from './visibility.ts';
import { DEFAULT_WORKER_LIMITS, type FanOutWorkerLimits } from './worker-limits.ts';

/** The options of a worker. An execution environment makes one worker and keeps it. */
export interface FanOutWorkerOptions {
  /** The environment of this function, over stores made with `shards: 'leave'`: `composeCloud().environment`. */
  readonly environment: Environment;
  /** `SignedPoster` of the environment: the worker tries each post by itself. */
  readonly poster: PostAttempts & Pick<Poster, 'get'>;
  /** `stores.subscriptions`. */
  readonly subscriptions: ShardReader & HeadMarks;
  /** `stores.fanOutProgress`. */
  readonly progress: Pick<FanOutProgress, 'begin' | 'advance'>;
  /** The dead-letter queue for jobs that are given up: a FIFO queue, perhaps that of the fan-out queue. */
  readonly deadLetters: JobQueue;
  /** `SqsVisibility` of the fan-out queue. @default records are left until their visibility timeout */
  readonly visibility?: Visibility;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly randomId: () => string;
  readonly log: Log;
  readonly metrics?: FanOutMetrics;
  readonly limits?: Partial<FanOutWorkerLimits>;
}

export type FanOutWorker = (event: SqsEvent, context: InvocationContext) => Promise<SqsBatchResponse>;

/**
 * The function that serves wide filters: an SQS FIFO event source with batches of up to 10 and
 * `ReportBatchItemFailures`. The queue's visibility timeout has to be at least the function's timeout, and its
 * `maxReceiveCount` high (1,000): a healthy job comes back often, and poison is recognized by a lack of progress.
 *
 *     const cloud = composeCloud(options);
 *     export const handler = createFanOutWorker({
 *       environment: cloud.environment,
 *       poster,
 *       subscriptions: cloud.stores.subscriptions,
 *       progress: cloud.stores.fanOutProgress,
 *       deadLetters: new SqsQueue({ client, queueUrl: deadLetterQueueUrl, sleep }),
 *       visibility: new SqsVisibility({ client, queueUrl: fanOutQueueUrl, log }),
 *       ...
 *     });
 *
 * Never rejects for a job: the answer lists the jobs that come again.
 */
export function createFanOutWorker(options: FanOutWorkerOptions): FanOutWorker {
  const { subscriptions, clock, log } = options;
  const limits = { ...DEFAULT_WORKER_LIMITS, ...options.limits };
  const gateway = new GatewayState(limits.postsPerSecond);
  const state = { limits, gateway, marks: new BehindMarks(subscriptions, clock, log) };
  return async (event, context) => {
    await refreshBans(options.environment);
    return await new BatchWork(options, state, context).serve(event.Records);
  };
}
