/** What the doors share: every door of the broker may use it, and nothing in it needs a socket. */

export {
  type AllowedOrigins,
  isAllowedOrigin,
  isLoopbackHost,
  isLoopbackOrigin,
  LOOPBACK_ORIGINS,
  originProblem,
} from './allowed-origins.ts';
export { type ApiAnswer, refusal, refusalFor } from './api/answer.ts';
export { answerHere, answerOf, type HeldRequest, queried } from './api/answer-here.ts';
export { slowest } from './api/clients.ts';
export { heldFacts } from './api/facts.ts';
export { emqxSamples, type FigureSources, metricsOf, statsOf } from './api/metrics.ts';
export { pageAnswer, pagingOf, sliceOf } from './api/paging.ts';
export type { ApiSources, ListedStores } from './api/sources.ts';
export { BanKeeper, type BanKeeperOptions } from './ban-keeper.ts';
export { LoadedConditions } from './conditions.ts';
export { LocalDelayedMessages } from './delayed/delayed-messages.ts';
export { type KeptMessage, KeptMessages } from './delayed/kept-messages.ts';
export * from './delayed/publish-delayed.ts';
export { DropMeter, type SavedDrops } from './drop-meter.ts';
export {
  type HttpAnswer,
  type HttpRequest,
  jsonAnswer,
  problem,
  tooManyRequests,
} from './http.ts';
export { installed, MissingPackageError } from './installed.ts';
export { CloseCode } from './links/close-code.ts';
export { Inbound } from './links/inbound.ts';
export { type BufferedLink, LinkConnections } from './links/link-connections.ts';
export { type TurnHandlers, Turns } from './links/turns.ts';
export { type AliasMemory, ClientTopicAliases, TopicAliases } from './packets/topic-aliases.ts';
export {
  type Authenticate,
  byKeys,
  byPlatform,
  keyOfCaller,
  TENANT_HEADER,
  unauthorized,
} from './publish/callers.ts';
export { BULK_PATH, createPublishEndpoint, PUBLISH_PATH } from './publish/endpoint.ts';
export {
  CALLER_RATE,
  ENVIRONMENT_RATE,
  LIMITED_KEYS_MAX,
  READING_ENVIRONMENT_RATE,
  READING_RATE,
  REQUEST_BYTES_MAX,
  RETRY_AFTER_SECONDS,
  UNAUTHORIZED_RATE,
} from './publish/limits.ts';
export { NotReached, type Published, type PublishOutcome } from './publish/outcomes.ts';
export { publishHere } from './publish/publish-here.ts';
export { createReadingEndpoint, isReading } from './publish/reading.ts';
export type { FrameContents, FrameQuota, QuotaScope } from './quotas/frame-quota.ts';
export { BURST_MS, type Charges, RateQuota } from './quotas/rate-quota.ts';
export { RateBank, type SharedRates, type Spending } from './quotas/shared-rates.ts';
export { RequestLimiter, type RequestRates } from './request-limiter.ts';
export { DueHeap } from './timers/due-heap.ts';
export { LocalTimers } from './timers/local-timers.ts';
export { PresenceTicker } from './timers/presence-ticker.ts';
export { type Scheduler, systemScheduler } from './timers/scheduler.ts';
export { OtlpExporter } from './tracing/otlp.ts';
export { deliverySpan, tracedBroker, tracedConnections, tracedSubscriptions } from './tracing/traced.ts';
export { type Span, Tracer } from './tracing/tracer.ts';
export {
  countSent,
  createTrafficMeter,
  meteredBroker,
  meteredConnections,
  type TrafficMeter,
} from './traffic-meter.ts';
export { CountedUsage, type LinkTraffic, takeUsage, type Used } from './usage/link-usage.ts';
export { type OwnedUsers, UsersChanges } from './users-changes.ts';
