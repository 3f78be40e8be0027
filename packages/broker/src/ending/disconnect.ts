import { type DisconnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import { reasonOfCode } from '../connect/client-events.ts';
import type { Context } from '../context.ts';
import type { Flow } from '../model/flow.ts';
import { type Connection, type Link, type LinkState, namesOf } from '../model/link.ts';
import { maximumPacketSizeOf, refuseConnect, sayDisconnect } from '../reply.ts';
import { type Departure, endConnection } from './end-connection.ts';
import { NO_GRACE } from './grace.ts';

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
  if (state.phase === 'authenticating') return refuseAuthenticating(link, state, violation);
  if (violation.answerAs !== undefined) return refuseConnect(link, violation.answerAs, violation);
  link.state = { phase: 'closed' };
  link.close('server');
}

/**
 * The server ends the connection: DISCONNECT with the reason [MQTT-4.13.2-1], then the close. The will is published.
 */
export function* disconnect(context: Context, link: Link, reasonCode: number, reason: string): Flow<void> {
  const { state } = link;
  if (state.phase !== 'connected') {
    if (state.phase === 'authenticating')
      return refuseAuthenticating(link, state, new Violation(reasonCode, reason));
    link.state = { phase: 'closed' };
    return link.close('server');
  }
  sayDisconnect(link, state.connection, reasonCode, reason);
  link.close('server');
  const { connection } = state;
  link.state = { phase: 'closed' };
  yield* endConnection(context, departureOf(link, connection), {
    atMs: context.ports.clock.now(),
    expirySeconds: connection.expirySeconds,
    reason: reasonOfCode(reasonCode),
    will: NO_GRACE,
  });
}

function refuseAuthenticating(
  link: Link,
  { connect }: Extract<LinkState, { phase: 'authenticating' }>,
  violation: Violation,
): void {
  refuseConnect(link, connect.protocolVersion, violation, maximumPacketSizeOf(connect));
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
  yield* endConnection(context, departureOf(link, connection), { atMs, expirySeconds, reason, will });
}

export function departureOf({ id }: Pick<Link, 'id'>, connection: Connection): Departure {
  const { session, identity, connectedAtMs, willDelaySeconds, isPresent } = connection;
  return { session, connectionId: id, identity, connectedAtMs, willDelaySeconds, isPresent };
}
