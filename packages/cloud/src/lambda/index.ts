/** What the functions in AWS are made of. Apart from the rest: it loads clients of the AWS SDK. */

export type { ConnectDeadline } from '../connect-deadline.ts';
export { createFanOutWorker, type FanOutWorkerOptions } from '../fan-out-worker.ts';
export { regionOfFunction } from '../invoke-function.ts';
export { type JobQueue, type QueueEntry, QueueUnavailable, SqsQueue } from '../job-queue.ts';
export {
  createOperator,
  type Operator,
  type OperatorAnswer,
  type OperatorBan,
  type OperatorOptions,
} from '../operator/create-operator.ts';
export * from '../publish/index.ts';
export { QueueBacklog } from '../queue-backlog.ts';
export { type Backlog, QueuedFanOut } from '../queued-fan-out.ts';
export { SqsTimers } from '../sqs-timers.ts';
export { createSweep, type SweepReport } from '../sweep.ts';
export { createTimerHandler } from '../timers-handler.ts';
export { SqsVisibility } from '../visibility.ts';
export { type Authentication, authenticationOf, authorizationOf } from './authentication.ts';
export { type Cloud, type CloudOptions, composeCloud } from './compose.ts';
export { METRICS, METRICS_SERVICE } from './metric-names.ts';
export { secretReader } from './secret.ts';
export { VARIABLES } from './variables.ts';
