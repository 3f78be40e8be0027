/** The functions in AWS. They are apart from the rest because they load clients of the AWS SDK. */

export { originProblem } from '@apus/door';
export { API_KEYS_MAX, KEY_SHA256 } from '../api/access.ts';
export type { BreakerSettings } from '../api/breaker.ts';
export {
  type ApiFunction,
  type ApiFunctionOptions,
  createApiFunction,
  createOperator,
} from '../api/create-api-function.ts';
export { type Stage, stageReader } from '../api/stage.ts';
export type { DeployedBridge } from '../api/systems.ts';
export { NEWER, xmlJson } from '../events/queued-text.ts';
export { receivesOf, type SqsBatchResponse, type SqsEvent, type SqsRecord } from '../events/sqs.ts';
export { type Backlog, type FanOutQueue, GatheredJobs } from '../fan-out/gathered-jobs.ts';
export { regionOfFunction } from '../fan-out/invoke-function.ts';
export { type JobQueue, type QueueEntry, QueueUnavailable, SqsQueue } from '../fan-out/job-queue.ts';
export { QueueBacklog } from '../fan-out/queue-backlog.ts';
export { type QueueCounts, queueCounts } from '../fan-out/queue-counts.ts';
export { SqsVisibility, type Visibility } from '../fan-out/visibility.ts';
export { createFanOutWorker, type FanOutWorkerOptions } from '../fan-out/worker.ts';
export { ALIVE_ROUTE, CONNECT_IN_HANDSHAKE, EXTENSIONS } from '../frames/text-frame.ts';
export type { ConnectDeadline } from '../handshake/connect-deadline.ts';
export { CloudWatchMetrics } from '../metrics/cloud-watch.ts';
export { GatewayMessages } from '../metrics/gateway-messages.ts';
export {
  BRIDGE_METRICS,
  METERED_TENANTS_MAX,
  METRICS,
  METRICS_SERVICE,
  OPTIONAL_METRICS,
  TENANT_DIMENSION,
  TENANT_METRICS,
} from '../metrics/metric-names.ts';
export { MonthCounters } from '../metrics/month-counters.ts';
export { CUT_AFTER_MS_MAX, RESUME_SECONDS_MAX } from '../options.ts';
export { createPublishFunction, type PublishFunction } from '../publish/create-publish-function.ts';
export type { FunctionUrlEvent, FunctionUrlResult } from '../publish/function-url.ts';
export { decodeRuleJob, encodeRuleJob, type RuleJob, type RuleRef } from '../rules/rule-job.ts';
export type { RuleFilter } from '../rules/rule-outlet.ts';
export type { AskRules, RuleLine, RulesAnswer, RulesRequest } from '../rules/rules-request.ts';
export { createSweep, type SweepReport } from '../sweep/sweep.ts';
export { createTimerHandler } from '../timers/handler.ts';
export { SqsTimers } from '../timers/sqs-timers.ts';
export { EnvironmentUsage, flushingUsage, type UsageStore } from '../usage/environment-usage.ts';
export {
  createUsageExport,
  EXPORT_FORMATS,
  type ExportBucket,
  type ExportFormat,
} from '../usage/export/export-usage.ts';
export { S3Bucket } from '../usage/export/s3-bucket.ts';
export { type Authentication, authenticationOf, authorizationOf } from './authentication.ts';
export type { CloudOptions } from './cloud-options.ts';
export { type Cloud, composeCloud } from './compose.ts';
export { createRuntime, type Runtime, withMetrics } from './runtime.ts';
export { secretReader } from './secret.ts';
export { required } from './settings.ts';
export { VARIABLES } from './variables.ts';
