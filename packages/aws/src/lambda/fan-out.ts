import type { FanOutCounts } from '../fan-out/metrics.ts';
import { SqsVisibility } from '../fan-out/visibility.ts';
import { createFanOutWorker } from '../fan-out/worker.ts';
import { readOption } from '../function-options.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { required } from './settings.ts';
import { VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, poster, sqs, clock, log, metrics, sleep, random, randomId } = runtime;
const postsPerSecond = readOption(process.env, VARIABLES.postsPerSecond, { kind: 'count' });

function record(counts: Readonly<FanOutCounts>): void {
  const { deliveries, throttled, latencyMsMax } = counts;
  metrics.add(METRICS.messagesOut, deliveries);
  metrics.add(METRICS.postsThrottled, throttled);
  // A batch of jobs whose subscribers have all left has no latency.
  if (deliveries > 0) metrics.observe(METRICS.fanOutLatency, latencyMsMax, 'Milliseconds');
}

/** Jobs for wide filters. */
export const handler = withMetrics(
  runtime,
  createFanOutWorker({
    environment: cloud.environment,
    poster,
    subscriptions: cloud.stores.subscriptions,
    progress: cloud.stores.fanOutProgress,
    deadLetters: runtime.queue(required(process.env, VARIABLES.deadLetterQueueUrl)),
    visibility: new SqsVisibility({
      client: sqs,
      queueUrl: required(process.env, VARIABLES.fanOutQueueUrl),
      log,
    }),
    clock,
    sleep,
    random,
    randomId,
    log,
    metrics: { record },
    ...(postsPerSecond !== undefined && { limits: { postsPerSecond } }),
  }),
);
