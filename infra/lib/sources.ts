import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { calledAs } from './broker-function.ts';
import {
  BATCH_SIZE,
  POSTS_PER_WORKER_SECOND,
  SWEEP_INTERVAL,
  TIMER_CALLS_MAX,
  WORKERS_MAX,
  WORKERS_MIN,
} from './defaults.ts';
import type { Functions } from './functions.ts';
import type { QueuePair } from './queues.ts';

/** The number of workers, and each worker's posts a second, that together keep to the limit of all posts. */
export interface FanOutBudget {
  readonly workers: number;
  readonly postsPerWorkerSecond: number;
}

/**
 * As few workers as keep the pace, since each takes concurrency that frames need as well; at the highest number each is
 * faster.
 */
export function fanOutBudget(maxPostsPerSecond: number): FanOutBudget {
  const wanted = Math.ceil(maxPostsPerSecond / POSTS_PER_WORKER_SECOND);
  const workers = Math.min(Math.max(wanted, WORKERS_MIN), WORKERS_MAX);
  return { workers, postsPerWorkerSecond: Math.floor(maxPostsPerSecond / workers) };
}

export interface Sources {
  /** The event source that the breaker disables. */
  readonly fanOut: EventSourceMapping;
  /** Invokes the sweep, every ten minutes. */
  readonly schedule: Rule;
}

/** Connects the workers and the sweep to their event sources. */
export function connectSources(
  scope: Construct,
  functions: Functions,
  queues: { readonly fanOut: QueuePair; readonly timers: QueuePair },
  { workers }: FanOutBudget,
): Sources {
  const fanOut = calledAs(functions.fanOut).addEventSourceMapping('Source', {
    eventSourceArn: queues.fanOut.queue.queueArn,
    batchSize: BATCH_SIZE,
    maxConcurrency: workers,
    reportBatchItemFailures: true,
  });
  const timers = calledAs(functions.timers).addEventSourceMapping('Source', {
    eventSourceArn: queues.timers.queue.queueArn,
    batchSize: BATCH_SIZE,
    maxConcurrency: TIMER_CALLS_MAX,
    reportBatchItemFailures: true,
  });
  for (const source of [fanOut, timers]) {
    acknowledge(
      source,
      'Serverless-LambdaEventSourceMappingDestination',
      'SQS sources have no destination for failures: the queue has dead letters.',
    );
  }
  const schedule = new Rule(scope, 'SweepSchedule', {
    description: 'Apus: looks for what nothing else ended',
    schedule: Schedule.rate(SWEEP_INTERVAL),
    targets: [
      new LambdaFunction(functions.sweep, { event: RuleTargetInput.fromObject({}), retryAttempts: 0 }),
    ],
  });
  acknowledge(
    schedule,
    'Serverless-EventBusDLQ',
    'A sweep that was missed is made up for by the next, ten minutes later; there is an alarm for those that fail.',
  );
  return { fanOut, schedule };
}
