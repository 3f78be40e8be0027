import { type DisconnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection, Link } from './link.ts';
import { NEVER_EXPIRES, type SessionRecord } from './ports/index.ts';
import { refuseConnect, sayDisconnect } from './reply.ts';
import { publishWillOf } from './will.ts';

const MAXIMUM_PACKET_SIZE_UNKNOWN = 0xffff_ffff;

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
  if (version !== undefined) return refuseConnect(link, version, violation, MAXIMUM_PACKET_SIZE_UNKNOWN);
  link.state = { phase: 'closed' };
  link.close();
}

/** The server ends the connection: DISCONNECT with the reason [MQTT-4.13.2-1], then the close; the will is sent. */
export function* disconnect(context: Context, link: Link, reasonCode: number, reason: string): Flow<void> {
  const { state } = link;
  if (state.phase !== 'connected') {
    const violation = new Violation(reasonCode, reason);
    if (state.phase === 'authenticating') {
      refuseConnect(link, state.connect.protocolVersion, violation, MAXIMUM_PACKET_SIZE_UNKNOWN);
    }
    link.state = { phase: 'closed' };
    return link.close();
  }
  sayDisconnect(link, state.connection, reasonCode, reason);
  link.close();
  yield* detach(context, link, state.connection, {
    expirySeconds: state.connection.expirySeconds,
    sendWill: true,
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
  link.close();
  yield* detach(context, link, connection, { expirySeconds, sendWill });
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
  yield* detach(context, link, connection, { expirySeconds: connection.expirySeconds, sendWill: true });
}

interface Ending {
  readonly expirySeconds: number;
  readonly sendWill: boolean;
}

function* detach(context: Context, link: Link, connection: Connection, ending: Ending): Flow<void> {
  link.state = { phase: 'closed' };
  const { sessions, clock } = context.ports;
  const { session } = connection;
  const record = yield* waitFor(sessions.detach(session, link.id, ending.expirySeconds, clock.now()));
  // Taken over: whoever took it has settled the will and the session.
  if (record === undefined) return;
  if (record.will !== undefined) yield* settleWill(context, link, record, ending.sendWill);
  if (record.expirySeconds === 0) return yield* endSession(context, session, link.id);
  if (record.expirySeconds !== NEVER_EXPIRES) {
    const dueAtMs = clock.now() + record.expirySeconds * 1000;
    yield* waitFor(
      context.ports.timers.set({ kind: 'session-expiry', session, connectionId: link.id }, dueAtMs),
    );
  }
}

/** Sends the will now, or after its delay; a session that ends before takes it along [MQTT-3.1.3-9]. */
function* settleWill(context: Context, link: Link, record: SessionRecord, sendWill: boolean): Flow<void> {
  const { sessions, timers, clock } = context.ports;
  const { session } = record;
  if (!sendWill) {
    yield* waitFor(sessions.takeWill(session, link.id));
    return;
  }
  const delaySeconds = Math.min(record.will?.properties.willDelayInterval ?? 0, record.expirySeconds);
  if (delaySeconds === 0) return yield* publishWillOf(context, session, link.id);
  yield* waitFor(
    timers.set({ kind: 'will', session, connectionId: link.id }, clock.now() + delaySeconds * 1000),
  );
}
