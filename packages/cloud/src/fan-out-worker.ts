import type { Clock, Log } from '@apus/broker';
import type { FanOutProgress } from '@apus/store-dynamodb';
import { flush } from './after.ts';
import type { Environment } from './environment.ts';
import type { InvocationContext } from './events.ts';
import { batchOf, type Task, type TaskGroup } from './fan-out-batch.ts';
import { type GroupResult, GroupWork, type ShardReader } from './fan-out-group.ts';
import { type FanOutCounts, type FanOutMetrics, noCounts } from './fan-out-metrics.ts';
import { DEFAULT_WORKER_LIMITS, type FanOutWorkerLimits } from './fan-out-worker-limits.ts';
import type { JobQueue } from './job-queue.ts';
import type { SqsBatchResponse, SqsEvent, SqsRecord } from './sqs-events.ts';

/** Makes messages of a queue visible before their time. */
export interface Visibility {
  /** Best effort: what it misses becomes visible when its timeout ends. Never rejects. */
  giveBack(records: readonly SqsRecord[], afterSeconds: number): Promise<void>;
}

/** The head of a wide filter, on which its workers say that they do not keep up. */
export interface HeadMarks {
  markBehind(tenant: string, topicFilter: string): Promise<void>;
}

/** What a worker is made of. One execution environment has one, and keeps it. */
export interface FanOutWorkerOptions {
  /** Of this function, over stores made with `shards: 'leave'`: `composeCloud().environment`. */
  readonly environment: Environment;
  /** `stores.subscriptions`. */
  readonly subscriptions: ShardReader & HeadMarks;
  /** `stores.fanOutProgress`. */
  readonly progress: Pick<FanOutProgress, 'begin' | 'advance'>;
  /** Where jobs go that are given up: a FIFO queue, also the fan-out queue's own dead-letter queue. */
  readonly deadLetters: JobQueue;
  /** Of the fan-out queue. @default records are left until their visibility timeout */
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
 * `maxReceiveCount` high (1,000): a job that is healthy comes back often, and poison is told by lack of progress.
 *
 *     const cloud = composeCloud(options);
 *     export const handler = createFanOutWorker({
 *       environment: cloud.environment,
 *       subscriptions: cloud.stores.subscriptions,
 *       progress: cloud.stores.fanOutProgress,
 *       deadLetters: new SqsQueue({ client, queueUrl: deadLetterQueueUrl, sleep }),
 *       ...
 *     });
 *
 * Never rejects for a job: what could not be done is in the answer.
 */
export function createFanOutWorker(options: FanOutWorkerOptions): FanOutWorker {
  const limits = { ...DEFAULT_WORKER_LIMITS, ...options.limits };
  return (event, context) => new BatchWork(options, limits, context).serve(event.Records);
}

/** One invocation. */
class BatchWork {
  readonly #options: FanOutWorkerOptions;
  readonly #limits: FanOutWorkerLimits;
  readonly #context: InvocationContext;
  readonly #counts: FanOutCounts = noCounts();
  readonly #left = new Set<SqsRecord>();

  constructor(options: FanOutWorkerOptions, limits: FanOutWorkerLimits, context: InvocationContext) {
    this.#options = options;
    this.#limits = limits;
    this.#context = context;
  }

  async serve(records: readonly SqsRecord[]): Promise<SqsBatchResponse> {
    const { groups, undecodable } = batchOf(records);
    for (const record of undecodable) await this.#bury(record);
    for (const group of groups) await this.#serveGroup(group);
    await this.#options.visibility?.giveBack([...this.#left], 1);
    this.#counts.handedBack += this.#left.size;
    this.#options.metrics?.record(this.#counts);
    return { batchItemFailures: [...this.#left].map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }

  async #serveGroup(group: TaskGroup): Promise<void> {
    const { done, left }: GroupResult = await this.#workFor(group).serve();
    for (const { records } of group.tasks.slice(done)) for (const record of records) this.#left.add(record);
    if (left !== 'nothing') this.#options.log.info('fan-out-handed-back', { ...group.shard, left, done });
  }

  #workFor(group: TaskGroup): GroupWork {
    const { environment, subscriptions, progress, log, randomId } = this.#options;
    const context = {
      broker: environment.broker,
      shards: subscriptions,
      progress,
      posts: {
        subscribersMax: () => this.#limits.sliceSubscribersMax,
        expectedMs: () => 0,
        flush: async () => {
          await flush(environment);
          return true;
        },
      },
      counts: this.#counts,
      limits: this.#limits,
      log,
      randomId,
      remainingMs: () => this.#context.getRemainingTimeInMillis(),
      giveUp: (tasks: readonly Task[], why: string) => this.#giveUp(tasks, why),
    };
    return new GroupWork(context, group, lastSequence(group));
  }

  async #giveUp(tasks: readonly Task[], why: string): Promise<void> {
    for (const { records } of tasks) for (const record of records) await this.#deadLetter(record, why);
  }

  /** What is no job must not block its group. */
  async #bury(record: SqsRecord): Promise<void> {
    await this.#deadLetter(record, 'it is no job of a version that is understood');
  }

  async #deadLetter({ messageId, body, attributes }: SqsRecord, why: string): Promise<void> {
    this.#options.log.error('fan-out-dead-letter', { messageId, why });
    const groupId = attributes.MessageGroupId ?? 'fan-out';
    await this.#options.deadLetters.send([{ body, fifo: { groupId, deduplicationId: messageId } }]);
    this.#counts.deadLetters += 1;
  }
}

/** Sequence numbers have up to 128 bits; as strings of one length they compare as numbers. */
const SEQUENCE_DIGITS = 39;

function lastSequence({ tasks }: TaskGroup): string {
  const sequence = tasks.at(-1)?.records[0]?.attributes.SequenceNumber;
  return sequence === undefined ? '' : sequence.padStart(SEQUENCE_DIGITS, '0');
}
