import {
  isFailure,
  type ParsedFilter,
  parseShared,
  ReasonCode,
  type SubackPacket,
  type SubscribePacket,
  type SubscriptionRequest,
  type UserProperties,
  Violation,
  validateTopicFilter,
} from '@apus/mqtt';
import { subscriptionsMax } from '../connect/holding-quota.ts';
import type { Context } from '../context.ts';
import { violate } from '../ending/disconnect.ts';
import { FILTERS_PER_TURN, type Flow, nextTurn, waitFor } from '../model/flow.ts';
import { type Connection, isReading, type Link, namesOf, type Replay } from '../model/link.ts';
import { quotaHolderOf } from '../model/quota-holder.ts';
import type { Subscription } from '../model/session.ts';
import type { SubscribeOutcome } from '../ports/index.ts';
import { presenceFilterViolation } from '../presence/names.ts';
import { underWay } from '../publish/under-way.ts';
import { because, reply } from '../reply.ts';
import { type Joining, join } from '../streams/join.ts';
import type { Past } from '../streams/read-at-once.ts';
import { readOn, sendPast } from '../streams/read-on.ts';
import { joiningOf } from '../streams/request.ts';
import { CONFLATE_PROPERTY, conflateMsOf } from './conflate.ts';
import { filtersViolation } from './filters-violation.ts';
import { replay, replayOf } from './replay.ts';
import { whereOf } from './where.ts';
import { takeWrites } from './write-quota.ts';

/** A filter of the SUBSCRIBE, and its subscription or the reason code that refuses it. */
interface Decision {
  readonly request: SubscriptionRequest;
  readonly granted: Subscription | number;
  /** It reads a stream. */
  readonly joining?: Joining;
  /** At most one message of each topic in so many milliseconds. */
  readonly conflateMs?: number | undefined;
  /** Why it is refused, if the code does not tell. */
  readonly reason?: string;
}

/**
 * SUBSCRIBE (section 3.8). The broker writes the subscription before it reads retained messages, and writes a retained
 * message before it matches: no subscriber misses the newest value.
 */
export function* subscribe(
  context: Context,
  link: Link,
  connection: Connection,
  packet: SubscribePacket,
): Flow<void> {
  const { packetId, subscriptions } = packet;
  const filters = subscriptions.map(({ topicFilter }) => topicFilter);
  const violation = filtersViolation(connection, 'suback', packetId, filters);
  if (violation !== undefined) return yield* violate(context, link, violation);
  const where = yield* whereOf(context, link, packet);
  const decisions: Decision[] = [];
  for (const [index, request] of subscriptions.entries()) {
    if (index > 0 && index % FILTERS_PER_TURN === 0) yield* nextTurn();
    const decision =
      where instanceof Violation
        ? refused(request, where)
        : yield* decide(context, link, connection, packet, request, where);
    if (decision instanceof Violation) return yield* violate(context, link, decision);
    decisions.push(decision);
  }
  const outcomes = yield* store(context, connection, decisions);
  // One SUBACK for all filters [MQTT-3.8.4-5], with a reason code for each, in their order [MQTT-3.8.4-6]
  // [MQTT-3.9.3-1].
  const reasonCodes = decisions.map(({ granted }) => reasonCodeOf(granted, outcomes));
  const { properties, pasts } = yield* joinStreams(
    context,
    link,
    connection,
    decisions,
    outcomes,
    reasonCodes,
  );
  reply(link, connection, { type: 'suback', packetId, reasonCodes, properties });
  const { log } = context.ports;
  if (log.writesDebug === true)
    log.debug('subscribed', { ...namesOf(link), topicFilters: filters, reasonCodes });
  startReplays(link, decisions, outcomes);
  // SUBACK has been sent: from here on nothing may refuse.
  for (const { subscription, past } of pasts)
    yield* underWay(sendPast(context, connection, subscription, past));
  yield* underWay(replay(context, link, connection));
  if (isReading(link)) yield* underWay(readOn(context, link, connection));
}

/** Grants or refuses one filter. A violation ends the connection. */
function* decide(
  context: Context,
  link: Link,
  connection: Connection,
  packet: SubscribePacket,
  request: SubscriptionRequest,
  where: string | undefined,
): Flow<Decision | Violation> {
  const conflateMs = conflateMsOf(context, link, connection, packet, request);
  if (conflateMs instanceof Violation) return refused(request, conflateMs);
  const joining = joiningOf(context, link, connection, packet, request, conflateMs);
  if (joining instanceof Violation) return refused(request, joining);
  const parsed = joining ?? parseShared(request.topicFilter);
  if (parsed instanceof Violation) return { request, granted: parsed.reasonCode };
  const { topicFilter } = parsed;
  const shareGroup = joining === undefined ? (parsed as ParsedFilter).shareGroup : undefined;
  const { noLocal, retainAsPublished } = request;
  if (shareGroup !== undefined && noLocal) {
    // [MQTT-3.8.3-4]
    return new Violation(ReasonCode.ProtocolError, 'No Local may not be set on a shared subscription');
  }
  const invalid = validateTopicFilter(topicFilter, context.limits);
  if (invalid !== undefined) return { request, granted: invalid.reasonCode };
  const notKept = presenceFilterViolation(context, topicFilter, request.retainHandling);
  if (notKept !== undefined) return refused(request, notKept);
  // A stream's history is its queue, so at QoS 0 no message waits for an acknowledgement. Conflated messages are not
  // acknowledged either.
  const qos = joining === undefined && conflateMs === undefined ? request.qos : 0;
  const { subscriptionIdentifier } = packet.properties;
  const plain = {
    ...{ topicFilter, shareGroup, qos, noLocal, retainAsPublished, subscriptionIdentifier },
    ...(where !== undefined && { where }),
  };
  if (!(yield* isAllowed(context, link, connection, plain)))
    return { request, granted: ReasonCode.NotAuthorized };
  if (joining === undefined) return { request, granted: { conflateMs, ...plain }, conflateMs };
  // A reader in memory has an interval of its own.
  const pace = link.readers === undefined && conflateMs !== undefined ? { conflateMs } : {};
  return { request, granted: { reader: joining.reader, ...plain, ...pace }, joining, conflateMs };
}

function refused(request: SubscriptionRequest, { reasonCode, reason }: Violation): Decision {
  return { request, granted: reasonCode, reason };
}

function* isAllowed(
  { ports: { authorizer, log } }: Context,
  link: Link,
  { identity, session }: Connection,
  { topicFilter, qos, shareGroup }: Subscription,
): Flow<boolean> {
  const terms = { qos, shareGroup };
  if (yield* waitFor(authorizer.maySubscribe(identity, session.clientId, topicFilter, terms))) return true;
  log.warn('subscribe-refused', { ...namesOf(link), topicFilter, reasonCode: ReasonCode.NotAuthorized });
  return false;
}

/** The results of joining the streams of one SUBSCRIBE. */
interface JoinedStreams {
  /** For SUBACK. */
  readonly properties: SubackPacket['properties'];
  /** Past messages to be sent after SUBACK. */
  readonly pasts: readonly { readonly subscription: Subscription; readonly past: readonly Past[] }[];
}

/**
 * Lets the readers of streams begin whose subscriptions were stored, and removes readers that plain subscriptions have
 * replaced.
 */
function* joinStreams(
  context: Context,
  link: Link,
  connection: Connection,
  decisions: readonly Decision[],
  outcomes: ReadonlyMap<Subscription, SubscribeOutcome>,
  reasonCodes: number[],
): Flow<JoinedStreams> {
  const properties: SubackPacket['properties'] = {};
  const pasts: { subscription: Subscription; past: readonly Past[] }[] = [];
  const isOne = decisions.length === 1;
  const reason = decisions[0]?.reason;
  if (reason !== undefined && decisions.every((each) => each.reason === reason))
    properties.reasonString = because(reason).reasonString;
  for (const [index, { granted, joining, conflateMs }] of decisions.entries()) {
    if (typeof granted !== 'number' && outcomes.get(granted) === 'too-many-conditions')
      properties.reasonString = because(TOO_MANY_CONDITIONS).reasonString;
    if (typeof granted === 'number' || isFailure(reasonCodes[index] ?? 0)) continue;
    if (granted.shareGroup === undefined) {
      if (isReading(link)) link.readers?.delete(granted.topicFilter);
      context.ports.conflation?.forget(connection.session.key, granted.topicFilter);
    }
    const pace: UserProperties = conflateMs === undefined ? [] : [[CONFLATE_PROPERTY, String(conflateMs)]];
    if (pace.length > 0) properties.userProperties = pace;
    if (joining === undefined) continue;
    const joined = yield* join(context, connection, joining, link.pastRoom);
    if (typeof joined === 'string') {
      yield* waitFor(context.ports.subscriptions.remove(connection.session, [granted]));
      reasonCodes[index] = ReasonCode.QuotaExceeded;
      if (isOne) properties.reasonString = because(REFUSALS_OF_JOIN[joined]).reasonString;
    } else {
      if (link.readers === undefined) noteReading(link);
      else link.readers.set(granted.topicFilter, granted);
      pasts.push({ subscription: granted, past: joined.past });
      if (isOne) properties.userProperties = [...pace, ...joined.told];
    }
  }
  return { properties, pasts };
}

/**
 * A door that keeps no readers notes with the connection that it reads a stream. After a loss its client has to come
 * back with its positions: only they tell which messages it is missing.
 */
function noteReading(link: Link): void {
  const { state } = link;
  if (state.phase !== 'connected') return;
  link.state = { ...state, isReading: true, connection: { ...state.connection, resumeSeconds: 0 } };
}

const TOO_MANY_CONDITIONS =
  'this client, or this filter, has as many conditions as it may: use one that other subscriptions have';

const REFUSALS_OF_JOIN = {
  full: 'the stream has as many topics as it may, or there is no memory for more',
  exhausted: 'too much was read for this client: subscribe again later',
  contended: 'others begin or end the history of this topic at the moment: subscribe again',
  'too-many': 'the filter matches too many topics of the stream to read their past: narrow it',
} as const;

function* store(
  context: Context,
  connection: Connection,
  decisions: readonly Decision[],
): Flow<Map<Subscription, SubscribeOutcome>> {
  const subscriptions: Subscription[] = [];
  for (const { granted } of decisions) if (typeof granted !== 'number') subscriptions.push(granted);
  const outcomes = new Map<Subscription, SubscribeOutcome>();
  if (subscriptions.length === 0) return outcomes;
  yield* takeWrites(context, connection, subscriptions.length);
  const maximum = yield* subscriptionsMax(context, connection, subscriptions);
  const { identity, session } = connection;
  const holder = quotaHolderOf(identity, session.clientId);
  for (let start = 0; start < subscriptions.length; start += FILTERS_PER_TURN) {
    if (start > 0) yield* nextTurn();
    const some = subscriptions.slice(start, start + FILTERS_PER_TURN);
    const answers = yield* waitFor(context.ports.subscriptions.put(session, some, maximum, holder));
    for (const [index, subscription] of some.entries())
      outcomes.set(subscription, answers[index] ?? 'over-limit');
  }
  return outcomes;
}

function reasonCodeOf(granted: Subscription | number, outcomes: Map<Subscription, SubscribeOutcome>): number {
  if (typeof granted === 'number') return granted;
  return isStored(outcomes.get(granted)) ? granted.qos : ReasonCode.QuotaExceeded;
}

function isStored(outcome: SubscribeOutcome | undefined): boolean {
  return outcome !== 'over-limit' && outcome !== 'too-many-conditions';
}

function startReplays(
  link: Link,
  decisions: readonly Decision[],
  outcomes: Map<Subscription, SubscribeOutcome>,
): void {
  if (link.state.phase !== 'connected') return;
  // By filter: a client that subscribes again while replays wait has no more of them than subscriptions [SEC-GROWTH-1].
  const started = new Map<string, Replay>();
  for (const { request, granted, joining } of decisions) {
    if (typeof granted === 'number' || (joining !== undefined && isGivenPast(joining))) continue;
    if (wantsRetained(request, granted, outcomes.get(granted)))
      started.set(granted.topicFilter, replayOf(granted));
  }
  if (started.size === 0) return;
  const others = link.state.replays.filter(({ topicFilter }) => !started.has(topicFilter));
  link.state = { ...link.state, replays: [...others, ...started.values()] };
}

/** Whether the client is sent past messages of the stream, in the place of retained ones. */
function isGivenPast({ start, stream }: Joining): boolean {
  const { positions, from } = start;
  return positions.size > 0 || (from === undefined ? stream.snapshot : from.at !== 'latest');
}

/** Retain Handling [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]; a shared subscription gets none (section 4.8.2). */
function wantsRetained(
  { retainHandling }: SubscriptionRequest,
  { shareGroup }: Subscription,
  outcome: SubscribeOutcome | undefined,
): boolean {
  if (shareGroup !== undefined || !isStored(outcome)) return false;
  return retainHandling === 0 || (retainHandling === 1 && outcome === 'added');
}
