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
export type { DeployedBridge } from '../api/systems.ts';
export { NEWER, xmlJson } from '../events/queued-text.ts';
export { receivesOf, type SqsBatchResponse, type SqsEvent, type SqsRecord } from '../events/sqs.ts';
export { GatheredJobs } from '../fan-out/gathered-jobs.ts';
export { regionOfFunction } from '../fan-out/invoke-function.ts';
export { type JobQueue, SqsQueue } from '../fan-out/job-queue.ts';
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
  METRICS,
  METRICS_SERVICE,
  OPTIONAL_METRICS,
  TENANT_DIMENSION,
  TENANT_METRICS,
} from '../metrics/metric-names.ts';
export { MonthCounters } from '../metrics/month-counters.ts';
export { createPublishFunction, type PublishFunction } from '../publish/create-publish-function.ts';
export { decodeRuleJob, encodeRuleJob, type RuleJob, type RuleRef } from '../rules/rule-job.ts';
export type { RuleLine, RulesAnswer, RulesRequest } from '../rules/rules-request.ts';
export { createSweep } from '../sweep/sweep.ts';
export { createTimerHandler } from '../timers/handler.ts';
export { SqsTimers } from '../timers/sqs-timers.ts';
export { EnvironmentUsage } from '../usage/environment-usage.ts';
export { createUsageExport, EXPORT_FORMATS, type ExportFormat } from '../usage/export/export-usage.ts';
export { authenticationOf, authorizationOf } from './authentication.ts';
export type { CloudOptions } from './cloud-options.ts';
export { type Cloud, composeCloud } from './compose.ts';
export { createRuntime, withMetrics } from './runtime.ts';
export { secretReader } from './secret.ts';
export { required } from './settings.ts';
export { VARIABLES } from './variables.ts';
