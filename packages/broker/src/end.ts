import { type DisconnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import { reasonOfCode } from './client-events.ts';
import type { Context } from './context.ts';
import { discardState } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { type Departure, leave } from './leave.ts';
import { PACKET_SIZE_UNLIMITED } from './limits.ts';
import { type Connection, type Link, namesOf } from './link.ts';
import { graceOf, type Loss, NO_GRACE } from './loss.ts';
import type { SessionRecord } from './ports/index.ts';
import { refuseConnect, sayDisconnect } from './reply.ts';
import type { ConnectionId } from './session.ts';
import { willDelaySecondsOf } from './will.ts';

/**
 * The client broke a rule. The broker tells it which, closes the connection, and publishes its will. Before CONNACK
 * the answer is a CONNACK [MQTT-4.13.1-1]; a client of unknown version gets none.
 */
export function* violate(context: Context, link: Link, violation: Violation): Flow<void> {
  const { state } = link;
  const { reasonCode, reason } = violation;
  context.ports.log.warn('protocol-violation', {
    ...namesOf(link),
    reasonCode,
    reason,
  });
  if (state.phase === 'connected') return yield* disconnect(context, link, reasonCode, reason);
  const version = state.phase === 'authenticating' ? state.connect.protocolVersion : violation.answerAs;
  if (version !== undefined) return refuseConnect(link, version, violation, PACKET_SIZE_UNLIMITED);
  link.state = { phase: 'closed' };
  link.close('server');
}

/**
 * The server ends the connection: DISCONNECT with the reason [MQTT-4.13.2-1], then the close. The will is published.
 */
export function* disconnect(context: Context, link: Link, reasonCode: number, reason: string): Flow<void> {
  const { state } = link;
  if (state.phase !== 'connected') {
    const violation = new Violation(reasonCode, reason);
    if (state.phase === 'authenticating') {
      refuseConnect(link, state.connect.protocolVersion, violation, PACKET_SIZE_UNLIMITED);
    }
    link.state = { phase: 'closed' };
    return link.close('server');
  }
  sayDisconnect(link, state.connection, reasonCode, reason);
  link.close('server');
  const { connection } = state;
  link.state = { phase: 'closed' };
  yield* leave(context, departureOf(link, connection), {
    atMs: context.ports.clock.now(),
    expirySeconds: connection.expirySeconds,
    reason: reasonOfCode(reasonCode),
    will: NO_GRACE,
  });
}

/** DISCONNECT from the client (section 3.14). */
export function* clientDisconnect(
  context: Context,
  link: Link,
  connection: Connection,
  packet: DisconnectPacket,
): Flow<void> {
  const asked = packet.properties.sessionExpiryInterval;
  if (asked !== undefined && asked > 0 && connection.expirySeconds === 0) {
    const reason = 'the Session Expiry Interval was 0 in CONNECT and may not be raised by DISCONNECT';
    return yield* violate(context, link, new Violation(ReasonCode.ProtocolError, reason));
  }
  const expirySeconds = Math.min(asked ?? connection.expirySeconds, context.limits.sessionExpirySecondsMax);
  // Reason code 0x00 withdraws the will [MQTT-3.14.4-3]; every other one leaves it.
  const isNormal = packet.reasonCode === ReasonCode.NormalDisconnection;
  const will = isNormal ? 'discarded' : NO_GRACE;
  const reason = isNormal ? 'normal' : 'disconnect_with_will_message';
  const atMs = context.ports.clock.now();
  link.close('client');
  link.state = { phase: 'closed' };
  yield* leave(context, departureOf(link, connection), { atMs, expirySeconds, reason, will });
}

/** The network connection was closed without DISCONNECT. */
export function* lost(context: Context, link: Link, why: string, loss: Loss): Flow<void> {
  const { state } = link;
  const names = namesOf(link);
  link.state = { phase: 'closed' };
  if (state.phase !== 'connected') return;
  const { connection } = state;
  const { connectedAtMs, expirySeconds, resumeSeconds } = connection;
  context.ports.log.debug('connection-lost', { ...names, why });
  const atMs = loss.atMs ?? context.ports.clock.now();
  const will = graceOf(context.options, connectedAtMs, atMs, loss);
  const ending = { atMs, expirySeconds, resumeSeconds, isLoss: true, will };
  const isFirst = yield* leave(context, departureOf(link, connection), ending);
  if (isFirst) return;
  const { tenant, clientId, incarnation } = connection.session;
  const record = yield* waitFor(context.ports.sessions.get(tenant, clientId));
  // A packet was handled while another process ended the session: what it has stored is deleted.
  if (record?.session.incarnation !== incarnation) yield* discardState(context, connection.session);
  else if (loss.hasSubscribed === true && state.isReading === true) yield* endLater(context, link, record);
}

/**
 * The session has gone on over a later connection, and a SUBSCRIBE of this one may have replaced a reader of that one:
 *
 *     handler of SUBSCRIBE, connection 1 handlers of connection 2
 *     begins, and is slow
 *                                        CONNECT; SUBSCRIBE: the reader is on connection 2
 *     stores its own: the reader is on connection 1
 *                                        (were it to stay …)
 *     … the client would be sent nothing more, and would not know
 *
 * So connection 2 ends as well. The client comes back and subscribes with its positions.
 */
function* endLater(context: Context, { id }: Pick<Link, 'id'>, record: SessionRecord): Flow<void> {
  const { attachment } = record;
  if (attachment === undefined || attachment.connectionId === id) return;
  yield* waitFor(context.ports.connections.close(attachment.connectionId, undefined));
  yield* loseAttached(context, record, attachment.connectionId, {});
}

/**
 * A network connection has ended and its session still names it: the process that noticed has died, or no process
 * noticed. False when the session has gone on without the connection.
 */
export function* lostUnnoticed(
  context: Context,
  tenant: string,
  clientId: string,
  connectionId: ConnectionId,
  loss: Loss,
): Flow<boolean> {
  const { sessions, log } = context.ports;
  const record = yield* waitFor(sessions.get(tenant, clientId));
  if (record?.attachment?.connectionId !== connectionId) return false;
  log.info('connection-lost-unnoticed', { connectionId, tenant, clientId });
  return yield* loseAttached(context, record, connectionId, loss);
}

/** The last connection of a session is over, and another process, or none, has its state. */
function* loseAttached(
  context: Context,
  record: SessionRecord,
  connectionId: ConnectionId,
  loss: Loss,
): Flow<boolean> {
  const { clock } = context.ports;
  const { session, identity, attachedAtMs, expirySeconds } = record;
  const willDelaySeconds = willDelaySecondsOf(record.will);
  const atMs = loss.atMs ?? clock.now();
  const will = graceOf(context.options, attachedAtMs, atMs, loss);
  const departure = { session, connectionId, identity, connectedAtMs: attachedAtMs, willDelaySeconds };
  return yield* leave(context, departure, { atMs, expirySeconds, isLoss: true, will });
}

export function departureOf({ id }: Pick<Link, 'id'>, connection: Connection): Departure {
  const { session, identity, connectedAtMs, willDelaySeconds, isPresent } = connection;
  return { session, connectionId: id, identity, connectedAtMs, willDelaySeconds, isPresent };
}
