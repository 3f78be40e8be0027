/** What the functions in AWS are made of. Apart from the rest: it loads clients of the AWS SDK. */

export { createFanOutWorker, type FanOutWorkerOptions } from '../fan-out-worker.ts';
export { type JobQueue, type QueueEntry, QueueUnavailable, SqsQueue } from '../job-queue.ts';
export * from '../publish/index.ts';
export { QueueBacklog } from '../queue-backlog.ts';
export { type Backlog, QueuedFanOut } from '../queued-fan-out.ts';
export { SqsTimers } from '../sqs-timers.ts';
export { createSweep, type SweepReport } from '../sweep.ts';
export { createTimerHandler } from '../timers-handler.ts';
export { secretReader } from '../tokens/secret.ts';
export { SqsVisibility } from '../visibility.ts';
export { type Cloud, type CloudOptions, composeCloud } from './compose.ts';
export { METRICS, METRICS_SERVICE } from './metric-names.ts';
export { VARIABLES } from './variables.ts';
