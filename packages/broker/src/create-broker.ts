import { type Packet, ReasonCode, Violation, validateTopicName } from '@apus/mqtt';
import type { Broker, PublishReceipt, PublishRequest } from './broker.ts';
import { continueAuthentication, reauthenticate } from './connect/authenticate.ts';
import { connackPropertiesOfAll } from './connect/connack.ts';
import { connect } from './connect/connect.ts';
import { IDENTITY_EXPIRED, recheck } from './connect/renew.ts';
import type { Context } from './context.ts';
import { acknowledgement } from './deliver/acknowledge.ts';
import { append, deliverAll } from './deliver/deliver.ts';
import { drain } from './deliver/drain.ts';
import { relay, serve } from './deliver/serve.ts';
import { ShareRotation } from './deliver/share.ts';
import { clientDisconnect, disconnect, violate } from './ending/disconnect.ts';
import { discardState } from './ending/end-session.ts';
import { expel, expelLink } from './ending/expel.ts';
import { fireTimer } from './ending/fire-timer.ts';
import { lost, lostUnnoticed } from './ending/lost.ts';
import { sayUnavailable } from './ending/unavailable.ts';
import type { AcceptOutcome } from './model/accept-outcome.ts';
import { type Awaitable, type Flow, run } from './model/flow.ts';
import type { Identity } from './model/identity.ts';
import type { BrokerOptions } from './model/limits.ts';
import type { Link, LinkState } from './model/link.ts';
import { EventClock, MessageClock } from './model/message-clock.ts';
import { connectionAfterMove, takeSession } from './moving/move.ts';
import { resumeSession } from './moving/resume.ts';
import { ConnectionLost, type Ports, Unavailable } from './ports/index.ts';
import { isPresenceTopic } from './presence/names.ts';
import { roomChanged, tellRoom } from './presence/tell.ts';
import { accept, createMessage } from './publish/accept.ts';
import { delayedViolation, isDelayedTopic } from './publish/delayed.ts';
import { lateRefusal } from './publish/late-refusal.ts';
import { payloadViolation } from './publish/payload.ts';
import { publish } from './publish/publish.ts';
import { reply } from './reply.ts';
import { tellConflated } from './streams/conflated.ts';
import { goOnReading, type SavedReader } from './streams/saved.ts';
import { subscribe } from './subscribe/subscribe.ts';
import { unsubscribe } from './subscribe/unsubscribe.ts';

/** State that all brokers of a process share, where each event has a broker of its own. */
export interface ProcessState {
  readonly messageClock: MessageClock;
  readonly shareRotation: ShareRotation;
}

export function createProcessState({ clock, randomId }: Pick<Ports, 'clock' | 'randomId'>): ProcessState {
  return { messageClock: new MessageClock(clock, randomId()), shareRotation: new ShareRotation() };
}

/** Makes a broker of the use cases over the given ports. It keeps no state but that of its process. */
export function createBroker(
  ports: Ports,
  options: BrokerOptions,
  state: ProcessState = createProcessState(ports),
): Broker {
  const context: Context = {
    ports,
    options,
    limits: options.limits,
    connackProperties: connackPropertiesOfAll(options.limits, ports),
    ...state,
    messageClock: new EventClock(state.messageClock, ports),
  };
  return {
    messageClock: context.messageClock,
    receive: (link, packet) => receive(context, link, packet),
    serve: (message, subscribers, isRepeat) => run(serve(context, message, subscribers, isRepeat)),
    relay: (tenant, message, matched, payer) => run(relay(context, tenant, message, matched, payer)),
    lost: (link, why, loss = {}) => run(lost(context, link, why, loss)),
    lostUnnoticed: (tenant, clientId, connectionId, loss = {}) =>
      run(lostUnnoticed(context, tenant, clientId, connectionId, loss)),
    disconnect: (link, reasonCode, reason) => run(disconnect(context, link, reasonCode, reason)),
    expel: (tenant, clientId, expulsion, isMeant = () => true) =>
      run(expel(context, tenant, clientId, expulsion, isMeant)),
    discardEnded: (session) => run(discardState(context, session)),
    connectionAfterMove: (...call) => connectionAfterMove(context, ...call),
    resumeSession: (link, lost, mayHaveOtherRules) =>
      run(resumeSession(context, link, lost, mayHaveOtherRules)),
    takeSession: (link, from, mayHaveOtherRules) => run(takeSession(context, link, from, mayHaveOtherRules)),
    drain: (link) => run(drainLink(context, link)),
    goOnReading: (link, readers) => run(goOnReadingOf(context, link, readers)),
    recheck: (session, identity) => run(recheck(context, session, identity)),
    tellRoom: (tenant, room) => run(tellRoom(context, tenant, room)),
    roomChanged: (tenant, room) => run(roomChanged(context, tenant, room)),
    tellConflated: (group, tickId) => run(tellConflated(context, group, tickId)),
    fire: (timer, dueAtMs) => run(fireTimer(context, timer, dueAtMs)),
    publish: (request) => run(publishForServer(context, request)),
    deliverAll: (routed) => run(deliverAll(context, routed)),
    append: (sent) => run(append(context, sent)),
  };
}

function* goOnReadingOf(context: Context, link: Link, readers: readonly SavedReader[]): Flow<void> {
  if (link.state.phase === 'connected') yield* goOnReading(context, link, link.state.connection, readers);
}

function receive(context: Context, link: Link, packet: Packet | Violation): Awaitable<void> {
  if (packet instanceof Violation) return run(violate(context, link, packet));
  let flow: Flow<void> | undefined;
  try {
    flow = handle(context, link, packet);
  } catch (error) {
    return run(failed(context, link, packet, error));
  }
  return flow && run(guarded(context, link, packet, flow));
}

function* guarded(context: Context, link: Link, packet: Packet, flow: Flow<void>): Flow<void> {
  try {
    yield* flow;
  } catch (error) {
    yield* failed(context, link, packet, error);
  }
}

function failed(context: Context, link: Link, packet: Packet, error: unknown): Flow<void> {
  if (!(error instanceof Unavailable) || error instanceof ConnectionLost) throw error;
  return sayUnavailable(context, link, packet, error);
}

/** Undefined: done, without a generator. */
function handle(context: Context, link: Link, packet: Packet): Flow<void> | undefined {
  const { state } = link;
  switch (state.phase) {
    case 'connected':
      return receiveConnected(context, link, state, packet);
    case 'new':
      return receiveFirst(context, link, packet);
    case 'authenticating':
      return receiveAuthenticating(context, link, state, packet);
    case 'closed':
      return undefined;
  }
}

function receiveFirst(context: Context, link: Link, packet: Packet): Flow<void> {
  if (packet.type === 'connect') return connect(context, link, packet);
  // [MQTT-3.1.0-1]
  return violate(context, link, unexpected(packet, 'the first packet must be CONNECT'));
}

/** Until CONNACK a client that authenticates may send only AUTH and DISCONNECT [MQTT-3.1.2-30]. */
function receiveAuthenticating(
  context: Context,
  link: Link,
  state: Extract<LinkState, { phase: 'authenticating' }>,
  packet: Packet,
): Flow<void> {
  if (packet.type === 'auth') return continueAuthentication(context, link, state, packet);
  if (packet.type === 'disconnect') {
    link.close('client');
    return lost(context, link, 'disconnect while authenticating', {});
  }
  return violate(context, link, unexpected(packet, 'only AUTH or DISCONNECT may be sent before CONNACK'));
}

function receiveConnected(
  context: Context,
  link: Link,
  state: Extract<LinkState, { phase: 'connected' }>,
  packet: Packet,
): Flow<void> | undefined {
  const { connection } = state;
  const { identity, session } = connection;
  // [SEC-BAN-1]
  const ban = context.ports.bans?.banOn(identity, session.clientId, link.peer.host);
  if (ban !== undefined) return expelLink(context, link, connection, ban);
  if (hasExpired(context, identity) && packet.type !== 'auth' && packet.type !== 'disconnect')
    return disconnect(context, link, ReasonCode.NotAuthorized, IDENTITY_EXPIRED);
  switch (packet.type) {
    case 'publish':
      return publish(context, link, connection, packet);
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      return acknowledgement(context, link, connection, packet);
    case 'subscribe':
      return subscribe(context, link, connection, packet);
    case 'unsubscribe':
      return unsubscribe(context, link, connection, packet);
    case 'pingreq':
      // [MQTT-3.12.4-1]
      reply(link, connection, { type: 'pingresp' });
      return undefined;
    case 'disconnect':
      return clientDisconnect(context, link, connection, packet);
    case 'auth':
      return reauthenticate(context, link, state, packet);
    case 'connect':
      // [MQTT-3.1.0-2]
      return violate(context, link, unexpected(packet, 'the client is connected already'));
    default:
      return violate(context, link, unexpected(packet, 'only a server sends it'));
  }
}

/** Whether the identity has expired. AUTH may still renew it [SEC-EXPIRY-1]. */
function hasExpired({ ports }: Context, { expiresAtMs }: Identity): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= ports.clock.now();
}

function unexpected({ type }: Packet, why: string): Violation {
  return new Violation(ReasonCode.ProtocolError, `unexpected ${type.toUpperCase()}: ${why}`);
}

function* drainLink(context: Context, link: Link): Flow<void> {
  if (link.state.phase === 'connected') yield* drain(context, link, link.state.connection);
}

function* publishForServer(context: Context, request: PublishRequest): Flow<PublishReceipt | Violation> {
  const invalid = validateTopicName(request.topic, context.limits);
  if (invalid !== undefined) return invalid;
  if (isPresenceTopic(request.topic))
    return new Violation(ReasonCode.TopicNameInvalid, 'a member of a room is a client that is connected');
  const notDelayed = isDelayedTopic(request.topic) ? delayedViolation(context, request.topic) : undefined;
  if (notDelayed !== undefined) return notDelayed;
  const { tenant, publisher, hasWaited = false, origin, ordered, ...draft } = request;
  const refusal = hasWaited && publisher && (yield* lateRefusal(context, publisher, draft.topic, draft));
  if (refusal) return refusal;
  const mismatch = payloadViolation(context, tenant, draft);
  if (mismatch !== undefined) return mismatch;
  const message = createMessage(context, { ...draft, publisherKey: undefined }, context.messageClock.next());
  const outcome = yield* accept(context, tenant, message, { publisher, origin, ordered });
  if (outcome === 'delivered' || outcome === 'no-matching-subscribers')
    return { messageId: message.id, outcome };
  return new Violation(ReasonCode.QuotaExceeded, refusalReason(context, outcome));
}

function refusalReason({ limits }: Context, outcome: AcceptOutcome): string {
  switch (outcome) {
    case 'memory-full':
      return 'there is no memory for more messages; try again later';
    case 'tenant-queues-full':
      return 'as much waits for the clients of this tenant as may; try again later';
    case 'backlog-full':
      return 'too much waits to be delivered; try again later';
    case 'delays-full':
      return 'as many messages wait to be published later as may; try again later';
    case 'outlet-refused':
    case 'outlet-refused-late':
      return 'the system that the message goes to does not take it now; try again later';
    case 'stream-contended':
      return 'more is published to one topic of a stream than its log takes; try again later';
    case 'retained-quota-exceeded':
      return `the limit of ${limits.retainedMessagesMax} retained messages, or of ${limits.retainedBytesMax} bytes of them, or the quota of the publisher, is reached`;
    case 'writes-exceeded':
      return 'the publisher has had as much retained as it may for now; try again later';
    default:
      return 'the publisher has caused as many deliveries as it may for now; try again later';
  }
}
