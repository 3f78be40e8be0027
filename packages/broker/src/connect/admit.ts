import { type ConnectPacket, RECEIVE_MAXIMUM_DEFAULT, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { drain } from '../deliver/drain.ts';
import { tellDropped } from '../deliver/drops.ts';
import { endConnection } from '../ending/end-connection.ts';
import { endPrevious } from '../ending/end-previous.ts';
import { banViolation } from '../ending/expel.ts';
import { noteUnavailable } from '../ending/unavailable.ts';
import { isWillOwedTo, publishWillOrRemind, willDelaySecondsOf } from '../ending/will.ts';
import { assignedClientId, type BindingRank, bindingRank, clientIdRefusal } from '../model/client-ids.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import { type Connection, type Link, namesOf } from '../model/link.ts';
import { ofOneShape } from '../model/one-shape.ts';
import { ownedWill } from '../model/owned.ts';
import { withAddress } from '../model/quota-holder.ts';
import { type OpenedSession, type Reservation, Unavailable } from '../ports/index.ts';
import { isPresenceTopic } from '../presence/names.ts';
import { payloadViolation } from '../publish/payload.ts';
import { maximumPacketSizeOf, reply, tooLarge } from '../reply.ts';
import { notedReplays } from '../subscribe/replay.ts';
import { mayPublish, withHost } from './authorize.ts';
import { tellConnected } from './client-events.ts';
import { connackOf, grantedExpirySeconds, keepAliveSeconds } from './connack.ts';
import { openWithin, turnAway } from './holding-quota.ts';
import { refuse } from './refuse.ts';
import { credentialOf, endForbidden } from './renew.ts';

export interface Admission {
  readonly packet: ConnectPacket;
  readonly identity: Identity;
  readonly authenticationData: Uint8Array | undefined;
}

/** The client is authenticated: it gets its session, CONNACK, and the messages that wait for it. */
export function* admit(context: Context, link: Link, asked: Admission): Flow<void> {
  const addressed = ofOneShape(withHost(context, withAddress(asked.identity, link.peer), link.peer));
  const admission = named(context, { ...asked, identity: addressed });
  if (admission instanceof Violation) return refuse(context, link, asked.packet, admission);
  const { packet, identity } = admission;
  const connack = connackOf(context, admission);
  const refusal =
    banViolation(context, link, identity, packet.clientId) ??
    (yield* refusalOf(context, admission)) ??
    tooLarge(connack, { ...packet, maximumPacketSize: maximumPacketSizeOf(packet) });
  if (refusal !== undefined) return refuse(context, link, packet, refusal);
  let nowMs = 0;
  const opened = yield* openWithin(context, packet, identity, (reservation) => {
    nowMs = context.ports.clock.now();
    return open(context, link, admission, nowMs, reservation);
  });
  if (opened === 'owned-by-another') return refuse(context, link, packet, NOT_THE_OWNER);
  if ('scope' in opened) return turnAway(context, link, admission, opened);
  if (!(yield* endPreviousOrRefuse(context, link, admission, opened, nowMs))) return;
  // Rules may have changed since the last connection: subscriptions that are no longer allowed end before they deliver
  // anything.
  if (opened.present && context.ports.authorizer.allowsEverything !== true)
    yield* endForbidden(context, opened.session, identity);
  const connection = connectionOf(context, admission, opened, nowMs);
  const replays = opened.present ? yield* notedReplays(context, link, opened) : [];
  link.state = { phase: 'connected', connection, isDraining: false, replays };
  // [MQTT-3.2.2-2] [MQTT-3.2.2-3]
  reply(link, connection, { ...connack, sessionPresent: opened.present });
  context.ports.log.debug('connected', {
    ...namesOf(link),
    sessionPresent: opened.present,
  });
  yield* tellConnected(context, link, connection, packet.cleanStart);
  if (opened.present) {
    yield* tellDropped(context, connection.session, true);
    yield* drain(context, link, connection);
  }
  // After CONNACK: the client may subscribe to its own will.
  if (opened.owedWillOf !== undefined) yield* publishWillOrRemind(context, opened.session, opened.owedWillOf);
}

const NOT_THE_OWNER = new Violation(
  ReasonCode.NotAuthorized,
  'the session of this client identifier belongs to somebody else',
);

/** An admission whose client has an identifier: its own, or one that the broker assigns [MQTT-3.1.3-6]. */
interface NamedAdmission extends Admission {
  readonly isAssigned: boolean;
  readonly bindingRank: BindingRank;
}

function named(context: Context, admission: Admission): NamedAdmission | Violation {
  const { packet, identity } = admission;
  const isAssigned = packet.clientId === '';
  const clientId = isAssigned ? assignedClientId(identity, context.ports.randomId()) : packet.clientId;
  if (clientId === undefined) {
    const reason = `a client identifier of ${identity.name}'s is needed`;
    return new Violation(ReasonCode.ClientIdentifierNotValid, reason);
  }
  const rank = bindingRank(identity, clientId);
  const refusal = clientIdRefusal(identity, clientId, grantedExpirySeconds(context, packet) > 0);
  if (rank === undefined || refusal !== undefined) return refusal ?? NOT_THE_OWNER;
  return { ...admission, packet: { ...packet, clientId }, isAssigned, bindingRank: rank };
}

function* refusalOf(context: Context, { packet, identity }: NamedAdmission): Flow<Violation | undefined> {
  if (packet.will !== undefined) {
    const { topic } = packet.will;
    if (isPresenceTopic(topic))
      return new Violation(
        ReasonCode.TopicNameInvalid,
        'a will makes no member present: members leave by themselves',
      );
    const isAllowed = yield* waitFor(mayPublish(context, identity, packet.clientId, topic, packet.will));
    if (!isAllowed) {
      return new Violation(
        ReasonCode.NotAuthorized,
        `the will's topic ${JSON.stringify(topic)} is not allowed`,
      );
    }
    const mismatch = payloadViolation(context, identity.tenant, packet.will);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function open(
  context: Context,
  link: Link,
  { packet, identity, bindingRank }: NamedAdmission,
  nowMs: number,
  reservation: Reservation | undefined,
): Flow<OpenedSession | 'owned-by-another'> {
  const { limits, ports } = context;
  const { receiveMaximum } = packet.properties;
  return waitFor(
    ports.sessions.open({
      tenant: identity.tenant,
      clientId: packet.clientId,
      cleanStart: packet.cleanStart,
      expirySeconds: grantedExpirySeconds(context, packet),
      attachment: {
        connectionId: link.id,
        protocolVersion: packet.protocolVersion,
        receiveMaximum: Math.min(receiveMaximum ?? RECEIVE_MAXIMUM_DEFAULT, limits.inflightMessagesMax),
        maximumPacketSize: maximumPacketSizeOf(packet),
        keepsNothing: context.options.ephemeralSessionsKeep === 'nothing' && isEphemeral(packet),
        ...(link.takesNudges === true && { takesNudges: true }),
        ...credentialOf(context, link, identity),
      },
      identity,
      bindingRank,
      will: packet.will && ownedWill(packet.will),
      nowMs,
      isWillOwed: (...call) => isWillOwedTo(context, identity, ...call),
      reservation,
    }),
  );
}

/**
 * Whether the session ends with its connection. The client can tell as well: it then sends no PUBACK (text-frames.md,
 * section 5).
 */
function isEphemeral({ protocolVersion, cleanStart, properties }: ConnectPacket): boolean {
  if (!cleanStart) return false;
  const { sessionExpiryInterval = 0, receiveMaximum } = properties;
  return protocolVersion < 5 || (sessionExpiryInterval === 0 && receiveMaximum === undefined);
}

/**
 * Ends the previous connection or session. If the store is unavailable, refuses CONNECT, leaves the session again and
 * returns false. Leaving ends a session that this CONNECT began; a session that it found goes on as before. The will
 * is not published, since its CONNECT was not accepted [MQTT3-3.1.2-8].
 *
 *     handler of CONNECT                 sweep, or the next CONNECT
 *     open: attached, with its will
 *     the ended session cannot be deleted: throttled
 *     CONNACK 0x97
 *     (were the session not left …)
 *                                        … finds a lost connection, and publishes the will
 *
 * If the session cannot be left either, no CONNACK is sent: the client has not been refused, and the sweep finds a
 * lost connection.
 */
function* endPreviousOrRefuse(
  context: Context,
  link: Link,
  { packet, identity }: NamedAdmission,
  opened: OpenedSession,
  nowMs: number,
): Flow<boolean> {
  const { previous, session, present } = opened;
  if (previous === undefined) return true;
  try {
    yield* endPrevious(context, opened, previous);
    return true;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    link.state = { phase: 'closed' };
    const willDelaySeconds = willDelaySecondsOf(packet.will);
    const departure = { session, connectionId: link.id, identity, connectedAtMs: nowMs, willDelaySeconds };
    const expirySeconds = present ? previous.expirySeconds : 0;
    const atMs = context.ports.clock.now();
    yield* endConnection(context, departure, { atMs, expirySeconds, isRefused: true, will: 'discarded' });
    refuse(context, link, packet, noteUnavailable(context, packet, error));
    return false;
  }
}

function connectionOf(
  context: Context,
  { packet, identity }: NamedAdmission,
  opened: OpenedSession,
  connectedAtMs: number,
): Connection {
  const { properties, protocolVersion } = packet;
  return {
    session: opened.session,
    protocolVersion,
    identity,
    keepAliveSeconds: keepAliveSeconds(context, packet),
    expirySeconds: grantedExpirySeconds(context, packet),
    requestProblemInformation: properties.requestProblemInformation !== 0,
    maximumPacketSize: maximumPacketSizeOf(packet),
    topicAliasMaximum: properties.topicAliasMaximum ?? 0,
    authenticationMethod: properties.authenticationMethod,
    connectedAtMs,
    isResumed: opened.present,
    willDelaySeconds: willDelaySecondsOf(packet.will),
  };
}
