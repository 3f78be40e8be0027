/** The operations of the HTTP API (`/api/v5`): their document, and a handler for each over what a door knows. */

export {
  Answered,
  type Asked,
  type EntryHandler,
  type Handler,
  type ListHandler,
  type Part,
  type Slice,
  Text,
} from './handler.ts';
export type { BanFacts } from './handlers/bans.ts';
export {
  type ClientFacts,
  type ClientFilter,
  type DetailedClient,
  dropFigures,
  fitsClient,
  type KnownClient,
  type KnownDoor,
} from './handlers/clients.ts';
export type { FigureFacts } from './handlers/figures.ts';
export { type Facts, HANDLERS } from './handlers/index.ts';
export { type ReadingFacts, type RetainedFacts, readingHandlers } from './handlers/messages.ts';
export type { Observed, ObservingFacts, SlowClient } from './handlers/observing.ts';
export { filterOf, type Held, type SubscriptionFacts } from './handlers/subscriptions.ts';
export type { Letters, ListOf, SystemFacts } from './handlers/systems.ts';
export type { TenantFacts } from './handlers/tenants.ts';
export type { UserFacts, UserTable } from './handlers/users.ts';
export { apiPage } from './markdown.ts';
export { type Figures, METRICS, type MetricName, STATS, type StatName } from './metric-names.ts';
export { API_PATH, openApiDocument } from './open-api.ts';
export { OPERATION_IDS, OPERATIONS, type OperationId } from './operations/index.ts';
export { LIMIT_DEFAULT, LIMIT_MAX } from './operations/parameters.ts';
export { pathWith } from './path.ts';
export { ApiProblem, PROBLEM_STATUSES, type ProblemCode, problemOf } from './problem.ts';
export {
  counter,
  emqxName,
  gauge,
  NODE_NAME,
  type Sample,
} from './prometheus.ts';
export { queryProblem } from './query.ts';
export { routeOf } from './route.ts';
export type { BreakerLine, QuotaLine } from './schemas/bounds.ts';
export type { BanLine, Client, ClientDetails, SubscriptionLine } from './schemas/clients.ts';
export type { MemberLine, RetainedLine, StreamLine, StreamMessageLine } from './schemas/messages.ts';
export {
  type Alarm,
  type ClientEvent,
  type ClientEventKind,
  DROPPED_FIGURES,
  type DroppingClient,
  type MonitorSample,
  type SlowSubscription,
  type TraceLine,
  type TraceLog,
  type TraceQuestion,
  type TraceStatus,
} from './schemas/observing.ts';
export type { Ended, UserLine } from './schemas/users.ts';
export type { StreamPage } from './streams/messages.ts';
export { PAGE_BYTES } from './streams/question.ts';
export { rfc3339, timeOf } from './time.ts';
