export type * from './broker.ts';
export { mayPublish, withHost } from './connect/authorize.ts';
export { BanList, banOnCaller } from './connect/ban-list.ts';
export { IDENTITY_EXPIRED } from './connect/renew.ts';
export { ruleFilterProblem } from './connect/rule-filter.ts';
export { RulesAuthorizer, rulesAuthorizer } from './connect/rules-authorizer.ts';
export { belongsToAnother, isSameOwner } from './connect/session-owner.ts';
export { createBroker, createProcessState, type ProcessState } from './create-broker.ts';
export { DROP_NAMES } from './deliver/drops.ts';
export type { PresenceRefusal } from './model/accept-outcome.ts';
export * from './model/bans.ts';
export {
  BindingRank,
  BRIDGES_SOURCE,
  CLIENT_ID_PATTERN_LENGTH_MAX,
  CLIENT_ID_PATTERNS_MAX,
} from './model/client-ids.ts';
export type { Clock } from './model/clock.ts';
export { steadyNow, systemClock } from './model/clock.ts';
export {
  CONFLATED_TOPICS_MAX,
  Conflation,
  type ConflationMemory,
  type Delays,
} from './model/conflation.ts';
export { type Awaitable, type Flow, run, waitFor } from './model/flow.ts';
export type * from './model/identity.ts';
export {
  type BrokerLimits,
  type BrokerOptions,
  DEFAULT_LIMITS,
  LIMIT_RANGES,
  type LimitRange,
  LOST_BYTES_MAX,
  LOST_PACKETS_MAX,
  PACKET_SIZE_UNLIMITED,
} from './model/limits.ts';
export type * from './model/link.ts';
export { namesOf } from './model/link.ts';
export * from './model/message.ts';
export { EventClock, MessageClock, messageTimeMs } from './model/message-clock.ts';
export { type MessageOrigin, ORIGINS_MAX } from './model/message-origin.ts';
export { owned } from './model/owned.ts';
export type { PageLimit } from './model/page.ts';
export { messageBytes, Page, pageOf, retainedBytes } from './model/page.ts';
export { JSON_DEPTH_MAX, parseJson } from './model/parse-json.ts';
export { plainLines, plainText } from './model/plain-text.ts';
export * from './model/publish-order.ts';
export type { DeliveryPayer, RetainedHolder } from './model/quota-holder.ts';
export {
  holderKeyOf,
  latePublisher,
  type QuotaHolder,
  quotaHolderKey,
  quotaHolderOf,
  retainedHolderOf,
  tenantOfHolderKey,
  withAddress,
} from './model/quota-holder.ts';
export * from './model/quotas.ts';
export { reasonOf } from './model/reason-of.ts';
export { type Rule, rulesOfLists } from './model/rules.ts';
export * from './model/session.ts';
export {
  type GivenStream,
  mayOpen,
  readStreams,
  type StreamDeclaration,
  StreamDeclarations,
} from './model/stream-declaration.ts';
export { StreamFeed } from './model/stream-feed.ts';
export { subscriptionWeight } from './model/subscription-weight.ts';
export { sampledTraceOf, type TraceContext } from './model/trace.ts';
export { TURN_MS_MAX, Turn } from './model/turn.ts';
export * from './model/ways.ts';
export * from './ports/index.ts';
export { PRESENCE_GRACE_SECONDS } from './presence/leave-rooms.ts';
export { occupancyTopic, parsePresence, presenceTopic } from './presence/names.ts';
export { LOG_LINES_MAX, SparingLog, shortened, shortText } from './sparing-log.ts';
export { parseStreamFilter } from './streams/names.ts';
export {
  formatPosition,
  parsePosition,
  placedMessage,
  STABLE_AFTER_MS,
  StreamProperty,
} from './streams/position.ts';
export { ENDED_READER, LiveReader } from './streams/reader.ts';
export { type SavedReader, savedReadersOf } from './streams/saved.ts';
export * from './usage/counts.ts';
export * from './usage/csv.ts';
export * from './usage/report.ts';
