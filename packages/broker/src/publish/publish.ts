import {
  type AcknowledgementPacket,
  isUtf8,
  type PublishPacket,
  ReasonCode,
  Violation,
  validateTopicName,
} from '@apus/mqtt';
import { mayPublish } from '../connect/authorize.ts';
import type { Context } from '../context.ts';
import { whenDelivered } from '../deliver/deliver.ts';
import { disconnect, violate } from '../ending/disconnect.ts';
import { type Accepted, type AcceptOutcome, isRefused } from '../model/accept-outcome.ts';
import { type Awaitable, type Flow, waitFor } from '../model/flow.ts';
import { type Connection, type Link, namesOf } from '../model/link.ts';
import { inOrder, type OrderedPublish } from '../model/publish-order.ts';
import { traceOf } from '../model/trace.ts';
import { enter } from '../presence/enter.ts';
import { isPresenceTopic, presenceViolation } from '../presence/names.ts';
import { because, reply } from '../reply.ts';
import { accept, createMessage } from './accept.ts';
import { delayedViolation, isDelayedTopic } from './delayed.ts';
import { forwardNow } from './now.ts';
import { payloadViolation } from './payload.ts';
import { underWay } from './under-way.ts';

/** PUBLISH from a client (section 3.3). Undefined: everything is done, without a generator. */
export function publish(
  context: Context,
  link: Link,
  connection: Connection,
  packet: PublishPacket,
): Flow<void> | undefined {
  // The alias first: everything after, authorisation above all, must see the real topic.
  const topic = resolveTopicAlias(context, link, packet);
  if (topic instanceof Violation) return violate(context, link, topic);
  const invalid = validateTopicName(topic, context.limits);
  if (invalid !== undefined) return violate(context, link, invalid);
  const attempt = { link, connection, packet, topic, isRepetition: false };
  // Others may refuse late. A client of MQTT 3.1.1 then sends the message again, behind those accepted meanwhile.
  const isAlone = connection.protocolVersion < 5 && context.ports.fanOut !== undefined;
  if (link.publishOrder === undefined || packet.qos !== 1 || isAlone) return publishAttempt(context, attempt);
  const goOn = () => link.goOn?.();
  const callbacks = { asked: goOn, offered: goOn, handedOn: goOn };
  const ordered = link.publishOrder.enter(packet.payload.length, callbacks);
  return inOrder(ordered, () => publishAttempt(context, { ...attempt, ordered }));
}

function publishAttempt(context: Context, attempt: Attempt): Flow<void> | undefined {
  const { connection, packet } = attempt;
  // A PUBLISH that may have been accepted before must not be refused: errors from here on are `UnderWay`.
  if (packet.qos > 0 && mayRepeat(context, connection, packet))
    return underWay(publishLater(context, { ...attempt, isRepetition: true }));
  return publishNow(context, attempt);
}

/** The fast lane: straight calls for a message that may be published, while the ports answer at once. */
function publishNow(context: Context, attempt: Attempt): Flow<void> | undefined {
  const { connection, packet, topic } = attempt;
  const { identity, session } = connection;
  if (packet.properties.payloadFormatIndicator === 1 || topic.startsWith('$'))
    return publishLater(context, attempt);
  const asking = mayPublish(context, identity, session.clientId, topic, packet);
  if (asking !== true) return publishLater(context, attempt, asking);
  const mismatch = payloadViolation(context, identity.tenant, packet, topic);
  if (mismatch !== undefined) return publishLater(context, attempt, asking, mismatch);
  if (packet.qos === 2) return publishExactlyOnce(context, attempt);
  const hasRoom = packet.qos === 0 || hasRoomFor(context, connection);
  if (hasRoom !== true) return acceptIfRoom(context, attempt, hasRoom);
  const outcome = acceptFrom(context, attempt, context.messageClock.next());
  if (typeof outcome !== 'string') return answerLater(context, attempt, outcome);
  if (attempt.ordered?.isFirst === false) return answer(context, attempt, outcome);
  if (packet.qos === 1) acknowledge(attempt, outcome);
  return undefined;
}

/** A PUBLISH with its topic. */
interface Attempt {
  readonly link: Link;
  readonly connection: Connection;
  readonly packet: PublishPacket;
  readonly topic: string;
  /** Known so far: a QoS 1 message that may be a repetition. At QoS 2 the receipt tells. */
  readonly isRepetition: boolean;
  /** Messages of the client are accepted at the same time. */
  readonly ordered?: OrderedPublish;
}

/**
 * @param asking the answer of the authorizer, if it has been asked
 * @param found why the payload does not match its schema, if it has been checked: a check counts what it refuses
 */
function* publishLater(
  context: Context,
  attempt: Attempt,
  asking?: Awaitable<boolean>,
  found?: Violation,
): Flow<void> {
  const { link, connection, packet, topic } = attempt;
  const refusal = yield* refusalOf(context, attempt, asking);
  const mismatch = refusal ?? found ?? payloadViolation(context, connection.identity.tenant, packet, topic);
  if (packet.qos === 2 && (mismatch === undefined || packet.dup || connection.isResumed))
    return yield* publishExactlyOnce(context, attempt, mismatch);
  if (mismatch !== undefined) {
    if (!(yield* mayAnswer(attempt))) return;
    answerRefused(context, link, connection, packet, mismatch);
    if (refusal?.reasonCode === ReasonCode.PayloadFormatInvalid && packet.qos === 0)
      yield* violate(context, link, refusal);
    return;
  }
  yield* acceptIfRoom(context, attempt, packet.qos === 0 || hasRoomFor(context, connection));
}

function* acceptIfRoom(context: Context, attempt: Attempt, hasRoom: Awaitable<boolean>): Flow<void> {
  if (!(yield* waitFor(hasRoom)))
    return yield* violate(context, attempt.link, receiveMaximumExceeded(context));
  yield* answerLater(context, attempt, acceptLater(context, attempt, context.messageClock.next()));
}

function* answerLater(context: Context, attempt: Attempt, accepting: Flow<AcceptOutcome>): Flow<void> {
  yield* answer(context, attempt, yield* accepting);
}

/** PUBACKs leave in the order of the PUBLISH packets. False: one before has failed, and none leaves. */
function* mayAnswer({ ordered }: Attempt): Flow<boolean> {
  return ordered === undefined || (yield* ordered.untilFirst());
}

function logRefused({ ports }: Context, { link }: Attempt, reason: AcceptOutcome): void {
  ports.log.warn('publish-refused', { ...namesOf(link), reasonCode: OUTCOME_CODES[reason], reason });
}

/**
 * The topic of the PUBLISH: its own, or the one its Topic Alias stands for on this connection [MQTT-3.3.2-12]
 * [MQTT-3.3.2-7].
 */
function resolveTopicAlias(context: Context, link: Link, packet: PublishPacket): string | Violation {
  const alias = packet.properties.topicAlias;
  if (alias === undefined) return packet.topic;
  const aliases = link.topicAliases;
  // Zero is refused by the codec [MQTT-3.3.2-8]; above what CONNACK offered, here [MQTT-3.3.2-9].
  if (aliases === undefined || alias > context.limits.topicAliasMaximum) {
    return new Violation(
      ReasonCode.TopicAliasInvalid,
      `topic alias ${alias} is above the Topic Alias Maximum`,
    );
  }
  if (packet.topic !== '') {
    if (aliases.set(alias, packet.topic)) return packet.topic;
    // [SEC-MEMORY-7]
    return new Violation(
      ReasonCode.QuotaExceeded,
      'there is no room for the topics of so many topic aliases',
    );
  }
  return (
    aliases.get(alias) ??
    new Violation(ReasonCode.ProtocolError, `topic alias ${alias} has not been set on this connection`)
  );
}

function* refusalOf(
  context: Context,
  { connection: { identity, session }, packet, topic }: Attempt,
  asking?: Awaitable<boolean>,
): Flow<Violation | undefined> {
  if (packet.properties.payloadFormatIndicator === 1 && !isUtf8(packet.payload))
    return new Violation(ReasonCode.PayloadFormatInvalid, 'the payload was declared UTF-8 and is not');
  const isAllowed = yield* waitFor(asking ?? mayPublish(context, identity, session.clientId, topic, packet));
  if (isAllowed) return violationOf(context, packet, topic);
  return new Violation(ReasonCode.NotAuthorized, `publishing to ${JSON.stringify(topic)} is not allowed`);
}

/** The reason why a client cannot publish to a topic of `$presence` or `$delayed`. */
function violationOf(context: Context, packet: PublishPacket, topic: string): Violation | undefined {
  if (!topic.startsWith('$')) return undefined;
  if (isPresenceTopic(topic)) return presenceViolation(context, { ...packet, topic });
  return isDelayedTopic(topic) ? delayedViolation(context, topic) : undefined;
}

/**
 * A refused PUBLISH is answered with its reason. QoS 0 has no answer: it is dropped. MQTT 3.1.1 has no reasons: a
 * normal acknowledgement, and the message is dropped [MQTT3-3.3.5-2].
 */
function answerRefused(
  context: Context,
  link: Link,
  connection: Connection,
  packet: PublishPacket,
  { reasonCode, reason }: Violation,
): void {
  const { log } = context.ports;
  const trace = log.writesDebug === true ? traceOf(packet.properties) : undefined;
  log.warn('publish-refused', { ...namesOf(link), reasonCode, reason, ...trace });
  if (packet.qos === 0) return;
  const type = packet.qos === 1 ? 'puback' : 'pubrec';
  const answer: AcknowledgementPacket = {
    type,
    packetId: packet.packetId,
    reasonCode,
    properties: because(reason),
  };
  reply(
    link,
    connection,
    connection.protocolVersion === 5 ? answer : { ...answer, reasonCode: 0, properties: {} },
  );
}

/**
 * QoS 2, method of the first receipt (section 4.3.3): the message is handed on once, and its packet id is remembered
 * until PUBREL [MQTT-4.3.3-10]. If the first handler may not have finished, a resend hands the message on again under
 * the same message id.
 *
 * @param refusal why the client may not publish the message now. If it was delivered before, its PUBREC was lost: the
 * client is not told of a refusal. Otherwise its id is free again with the refusal [MQTT-4.3.3-9]
 */
function* publishExactlyOnce(context: Context, attempt: Attempt, refusal?: Violation): Flow<void> {
  const { link, connection, packet } = attempt;
  const { received } = context.ports;
  const { session } = connection;
  const { packetId } = packet;
  const receipt = yield* waitFor(
    received.begin(session, packetId, context.messageClock.next(), context.limits.receiveMaximum),
  );
  if (receipt.state === 'over-limit') return yield* violate(context, link, receiveMaximumExceeded(context));
  if (receipt.state === 'delivered') {
    return reply(link, connection, {
      type: 'pubrec',
      packetId,
      reasonCode: ReasonCode.Success,
      properties: {},
    });
  }
  if (refusal !== undefined) {
    yield* waitFor(received.release(session, packetId));
    return answerRefused(context, link, connection, packet, refusal);
  }
  const isRepetition = receipt.state === 'pending';
  const repeated = { ...attempt, isRepetition };
  const accepting = acceptLater(context, repeated, receipt.messageId);
  const outcome = yield* isRepetition ? underWay(accepting) : accepting;
  if (!isRefused(outcome))
    yield* underWay(whenDelivered(context, () => waitFor(received.markDelivered(session, packetId))));
  else if (!isSentAgain(context, repeated, outcome)) yield* waitFor(received.release(session, packetId));
  yield* answer(context, repeated, outcome);
}

function hasRoomFor({ ports, limits }: Context, { session }: Connection): Awaitable<boolean> {
  return ports.received.hasRoom(session, limits.receiveMaximum);
}

/** [MQTT-3.3.4-7] */
function receiveMaximumExceeded({ limits }: Context): Violation {
  const reason = `more than ${limits.receiveMaximum} QoS 1 and 2 messages are unacknowledged`;
  return new Violation(ReasonCode.ReceiveMaximumExceeded, reason);
}

function* acceptLater(context: Context, attempt: Attempt, messageId: string): Flow<AcceptOutcome> {
  const accepting = acceptFrom(context, attempt, messageId);
  return typeof accepting === 'string' ? accepting : yield* accepting;
}

function acceptFrom(context: Context, attempt: Attempt, messageId: string): Accepted | Flow<AcceptOutcome> {
  const { link, connection, packet, topic, isRepetition, ordered } = attempt;
  ordered?.stayBehind();
  const { qos, retain, payload, properties } = packet;
  const { identity, session } = connection;
  const draft = { topic, payload, qos, retain, properties, publisherKey: session.key };
  const publisher = { identity, clientId: session.clientId };
  const message = createMessage(context, draft, messageId);
  if (context.ports.log.writesDebug === true)
    context.ports.log.debug('publish', { ...namesOf(link), topic, qos, messageId, ...traceOf(properties) });
  const isPlain = !retain && !topic.startsWith('$') && context.ports.outlet === undefined;
  const options = { publisher, ordered };
  if (isPlain) return forwardNow(context, identity.tenant, message, options);
  const accepting = isPresenceTopic(topic)
    ? enter(context, link, connection, message, isRepetition)
    : accept(context, identity.tenant, message, options);
  return ordered?.isNext === false ? whenNext(ordered, accepting) : accepting;
}

function* whenNext(ordered: OrderedPublish, accepting: Flow<AcceptOutcome>): Flow<AcceptOutcome> {
  yield* ordered.untilNext();
  ordered.stayBehind();
  return yield* accepting;
}

const OUTCOME_CODES = {
  delivered: ReasonCode.Success,
  'no-matching-subscribers': ReasonCode.NoMatchingSubscribers,
  'retained-quota-exceeded': ReasonCode.QuotaExceeded,
  'backlog-full': ReasonCode.QuotaExceeded,
  'deliveries-exceeded': ReasonCode.QuotaExceeded,
  'writes-exceeded': ReasonCode.QuotaExceeded,
  'memory-full': ReasonCode.QuotaExceeded,
  'tenant-queues-full': ReasonCode.QuotaExceeded,
  'stream-contended': ReasonCode.QuotaExceeded,
  'presence-room-full': ReasonCode.QuotaExceeded,
  'presence-rooms-full': ReasonCode.QuotaExceeded,
  'presence-owners-full': ReasonCode.QuotaExceeded,
  'presence-memory-full': ReasonCode.QuotaExceeded,
  'delays-full': ReasonCode.QuotaExceeded,
  'outlet-refused': ReasonCode.QuotaExceeded,
  'outlet-refused-late': ReasonCode.QuotaExceeded,
} as const;

/** Reasons for refusals that a developer will want to read. */
const PRESENCE_REASONS: Partial<Record<AcceptOutcome, string>> = {
  'presence-room-full': 'the room has as many members as it may',
  'presence-rooms-full': 'this client, or its identity, is in as many rooms as it may',
  'presence-owners-full': 'as many connections as may make this member present',
  'presence-memory-full': 'there is no memory for more members',
};

/**
 * The time from CONNECT in which a client may send the packets again that an earlier connection left unacknowledged.
 */
const RESENDING_MS = 30_000;

/**
 * Whether a QoS 1 message may be a repetition. A client that was cut has to set DUP when it sends again
 * [MQTT-3.3.1-1], but mqtt.js does not: in a resumed session each message of the first half minute may be one.
 */
function mayRepeat(
  { ports }: Context,
  { isResumed, connectedAtMs }: Connection,
  { dup }: PublishPacket,
): boolean {
  return dup || (isResumed && ports.clock.now() - connectedAtMs < RESENDING_MS);
}

const OUTLET_REASON = 'the system that the message goes to does not take it now';

/** Refusals that pass with time, and their reasons. */
const REASONS_FOR_NOW = {
  'backlog-full': 'too much waits to be delivered',
  'deliveries-exceeded': 'the publisher has caused too many deliveries',
  'writes-exceeded': 'the publisher has had too much retained',
  'memory-full': 'there is no memory for more messages',
  'tenant-queues-full': 'as much waits for the clients of this tenant as may',
  'delays-full': 'as many messages wait to be published later as may',
  'outlet-refused': OUTLET_REASON,
  'outlet-refused-late': OUTLET_REASON,
  'stream-contended': 'more is published to one topic of a stream than its log takes',
} as const;

function isForNow(outcome: AcceptOutcome): outcome is keyof typeof REASONS_FOR_NOW {
  return outcome in REASONS_FOR_NOW;
}

/**
 * Whether the broker ends the connection of a client that it refuses for now. In MQTT 5.0 the client is told, gives the
 * message up and goes on. MQTT 3.1.1 has no refusal: the client sends the message again on its next connection, and
 * nothing is lost. On a door with `endsRefusedRepetitions` the connection ends for a repetition as well, since
 * recipients may have it inflight:
 *
 *     publisher                          subscriber
 *     PUBLISH 5: its handler puts it inflight for the subscriber, and dies
 *     PUBLISH 5, once more
 *     (were it refused with PUBREC 0x97 …)
 *     PUBLISH 6
 *                                        6
 *                                        … and with the next connection what is inflight: 5 [MQTT-4.6.0-6]
 */
function endsConnection(
  { options: { endsRefusedRepetitions = false } }: Context,
  { connection: { protocolVersion }, isRepetition }: Attempt,
) {
  return protocolVersion < 5 || (isRepetition && endsRefusedRepetitions);
}

/**
 * Whether the client sends a refused QoS 2 message again, of which others may have copies: it keeps its id, so that they
 * do not get it twice. A client whose connection has ended meanwhile does not know that it was refused.
 */
function isSentAgain(context: Context, attempt: Attempt, outcome: AcceptOutcome): boolean {
  if (!isForNow(outcome) || !(attempt.isRepetition || outcome === 'outlet-refused-late')) return false;
  return attempt.link.state.phase !== 'connected' || endsConnection(context, attempt);
}

/** QoS 0 has no answer: the log alone says that a message was refused. */
function* answer(context: Context, attempt: Attempt, outcome: AcceptOutcome): Flow<void> {
  if (!(yield* mayAnswer(attempt))) return;
  if (isRefused(outcome)) logRefused(context, attempt, outcome);
  if (attempt.packet.qos === 0) return;
  if (isForNow(outcome) && endsConnection(context, attempt))
    return yield* disconnect(context, attempt.link, OUTCOME_CODES[outcome], REASONS_FOR_NOW[outcome]);
  acknowledge(attempt, outcome);
}

/** PUBACK [MQTT-4.3.2-4] or PUBREC [MQTT-4.3.3-8], after the message is durable. */
function acknowledge({ link, connection, packet: { qos, packetId } }: Attempt, outcome: AcceptOutcome): void {
  const type = qos === 1 ? 'puback' : 'pubrec';
  const isV5 = connection.protocolVersion === 5;
  const reasonCode = isV5 ? OUTCOME_CODES[outcome] : ReasonCode.Success;
  const reason = isV5 ? PRESENCE_REASONS[outcome] : undefined;
  const properties = reason === undefined ? {} : because(reason);
  reply(link, connection, { type, packetId, reasonCode, properties });
}
