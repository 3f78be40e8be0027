export { mayPublish } from './authorize.ts';
export * from './bans.ts';
export type * from './broker.ts';
export {
  BindingRank,
  bindingRank,
  CLIENT_ID_PATTERN_LENGTH_MAX,
  CLIENT_ID_PATTERNS_MAX,
} from './client-ids.ts';
export { CONFLATED_TOPICS_MAX, Conflation, type Delays } from './conflation.ts';
export { createBroker, createProcessState, type ProcessState } from './create-broker.ts';
export type { Sent, Stored } from './deliver.ts';
export { DROP_NAMES, DROPPED_TOPIC, DROPPED_TOPIC_PROPERTY } from './drops.ts';
export { type Awaitable, type Flow, run, waitFor } from './flow.ts';
export {
  type BrokerLimits,
  type BrokerOptions,
  DEFAULT_LIMITS,
  LIMIT_RANGES,
  type LimitRange,
  LOST_BYTES_MAX,
  LOST_PACKETS_MAX,
  PACKET_SIZE_UNLIMITED,
} from './limits.ts';
export type * from './link.ts';
export { namesOf } from './link.ts';
export * from './message.ts';
export { MessageClock } from './message-clock.ts';
export { owned } from './owned.ts';
export { messageBytes, Page, retainedBytes } from './page.ts';
export * from './ports/index.ts';
export { PRESENCE_GRACE_SECONDS } from './presence/leave-rooms.ts';
export { occupancyTopic, parsePresence, presenceTopic } from './presence/names.ts';
export {
  chargedPublisher,
  type QuotaHolder,
  quotaHolderKey,
  quotaHolderOf,
  retainedHolderOf,
  withAddress,
} from './quota-holder.ts';
export * from './quotas.ts';
export { IDENTITY_EXPIRED } from './renew.ts';
export { ruleFilterProblem } from './rule-filter.ts';
export { type Rule, rulesOfLists } from './rules.ts';
export { RulesAuthorizer, type RulesOf, rulesAuthorizer } from './rules-authorizer.ts';
export * from './session.ts';
export { belongsToAnother, isSameOwner } from './session-owner.ts';
export { LOG_LINES_MAX, SparingLog } from './sparing-log.ts';
export {
  type GivenStream,
  readStreams,
  STREAM_DEFAULTS,
  STREAMS_MAX,
  type StreamDeclaration,
  StreamDeclarations,
} from './streams/declaration.ts';
export { type MatchHere, StreamFeed } from './streams/feed.ts';
export {
  formatPosition,
  parsePosition,
  placedMessage,
  STABLE_AFTER_MS,
  type StreamKind,
  type StreamPosition,
  StreamProperty,
} from './streams/position.ts';
export { ENDED_READER, LiveReader, StreamReader } from './streams/reader.ts';
export { subscriptionWeight } from './subscription-weight.ts';
export { sampledTraceOf, type TraceContext } from './trace.ts';
export * from './usage/counts.ts';
export * from './usage/csv.ts';
export * from './usage/report.ts';
