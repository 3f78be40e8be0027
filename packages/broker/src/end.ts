import { type DisconnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { PACKET_SIZE_UNLIMITED } from './limits.ts';
import type { Connection, Link } from './link.ts';
import { NEVER_EXPIRES, type SessionRecord } from './ports/index.ts';
import { refuseConnect, sayDisconnect } from './reply.ts';
import { publishWillOf } from './will.ts';

/**
 * The client broke a rule: it is told which, the connection is closed, and its will is sent. Before CONNACK the answer
 * is a CONNACK [MQTT-4.13.1-1]; a client whose version is not known gets none.
 */
export function* violate(context: Context, link: Link, violation: Violation): Flow<void> {
  const { state } = link;
  const { reasonCode, reason } = violation;
  context.ports.log.warn('protocol-violation', {
    connectionId: link.id,
    address: link.peer.address,
    reasonCode,
    reason,
  });
  if (state.phase === 'connected') return yield* disconnect(context, link, reasonCode, reason);
  const version = state.phase === 'authenticating' ? state.connect.protocolVersion : violation.answerAs;
  if (version !== undefined) return refuseConnect(link, version, violation, PACKET_SIZE_UNLIMITED);
  link.state = { phase: 'closed' };
  link.close('server');
}

/** The server ends the connection: DISCONNECT with the reason [MQTT-4.13.2-1], then the close; the will is sent. */
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
  yield* detach(context, link, state.connection, {
    expirySeconds: state.connection.expirySeconds,
    sendWill: true,
    graceSeconds: 0,
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
  const sendWill = packet.reasonCode !== ReasonCode.NormalDisconnection;
  link.close('client');
  yield* detach(context, link, connection, { expirySeconds, sendWill, graceSeconds: 0 });
}

/** The network connection ended by itself. */
export function* lost(context: Context, link: Link, why: string): Flow<void> {
  const { state } = link;
  link.state = { phase: 'closed' };
  if (state.phase !== 'connected') return;
  const { connection } = state;
  context.ports.log.debug('connection-lost', {
    connectionId: link.id,
    clientId: connection.session.clientId,
    why,
  });
  const graceSeconds = context.options.lossGraceSeconds;
  yield* detach(context, link, connection, {
    expirySeconds: connection.expirySeconds,
    sendWill: true,
    graceSeconds,
  });
}

interface Ending {
  readonly expirySeconds: number;
  readonly sendWill: boolean;
  /** Seconds that the will and the end of the session wait at least. */
  readonly graceSeconds: number;
}

function* detach(context: Context, link: Link, connection: Connection, ending: Ending): Flow<void> {
  link.state = { phase: 'closed' };
  const { sessions, clock } = context.ports;
  const { session } = connection;
  const record = yield* waitFor(sessions.detach(session, link.id, ending.expirySeconds, clock.now()));
  if (!ending.sendWill) {
    // Also when the loss of this very connection was noticed first: its will still waits for this.
    yield* waitFor(sessions.takeWill(session, link.id));
  }
  // Taken over: whoever took it has settled the will and the session.
  if (record === undefined) return;
  if (ending.sendWill && record.will !== undefined)
    yield* settleWill(context, link, record, ending.graceSeconds);
  yield* settleSession(context, link, record, ending);
}

/** Sends the will now, or after its delay; a session that ends before takes it along [MQTT-3.1.3-9]. */
function* settleWill(context: Context, link: Link, record: SessionRecord, graceSeconds: number): Flow<void> {
  const { timers, clock } = context.ports;
  const { session } = record;
  const asked = Math.min(record.will?.properties.willDelayInterval ?? 0, record.expirySeconds);
  const delaySeconds = Math.max(asked, graceSeconds);
  if (delaySeconds === 0) return yield* publishWillOf(context, session, link.id);
  const dueAtMs = clock.now() + delaySeconds * 1000;
  yield* waitFor(timers.set({ kind: 'will', session, connectionId: link.id }, dueAtMs));
}

function* settleSession(context: Context, link: Link, record: SessionRecord, ending: Ending): Flow<void> {
  const { session, expirySeconds } = record;
  if (expirySeconds === NEVER_EXPIRES) return;
  // Without a will nothing depends on the grace.
  const graceSeconds = record.will === undefined || !ending.sendWill ? 0 : ending.graceSeconds;
  const delaySeconds = Math.max(expirySeconds, graceSeconds);
  if (delaySeconds === 0) return yield* endSession(context, session, link.id);
  const dueAtMs = context.ports.clock.now() + delaySeconds * 1000;
  yield* waitFor(
    context.ports.timers.set({ kind: 'session-expiry', session, connectionId: link.id }, dueAtMs),
  );
}
