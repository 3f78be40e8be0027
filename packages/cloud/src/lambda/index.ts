/** What the functions in AWS are made of. Apart from the rest: it loads clients of the AWS SDK. */
export { type JobQueue, type QueueEntry, QueueUnavailable, SqsQueue } from '../job-queue.ts';
export { type Backlog, QueuedFanOut } from '../queued-fan-out.ts';
export { secretReader } from '../tokens/secret.ts';
export { type Cloud, type CloudOptions, composeCloud } from './compose.ts';
export { METRICS } from './metric-names.ts';
export { VARIABLES } from './variables.ts';
