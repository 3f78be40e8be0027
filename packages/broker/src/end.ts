import { type DisconnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import { reasonOfCode } from './client-events.ts';
import type { Context } from './context.ts';
import type { Flow } from './flow.ts';
import { type Departure, leave } from './leave.ts';
import { PACKET_SIZE_UNLIMITED } from './limits.ts';
import { type Connection, type Link, namesOf } from './link.ts';
import { NO_GRACE } from './loss.ts';
import { refuseConnect, sayDisconnect } from './reply.ts';

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

export function departureOf({ id }: Pick<Link, 'id'>, connection: Connection): Departure {
  const { session, identity, connectedAtMs, willDelaySeconds, isPresent } = connection;
  return { session, connectionId: id, identity, connectedAtMs, willDelaySeconds, isPresent };
}
