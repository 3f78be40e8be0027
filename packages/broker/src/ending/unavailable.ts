import { type Packet, ReasonCode, Violation } from '@apus/mqtt';
import { refuse } from '../connect/refuse.ts';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Connection, Link } from '../model/link.ts';
import { reasonOf } from '../model/reason-of.ts';
import type { Unavailable } from '../ports/index.ts';
import { UnderWay } from '../publish/under-way.ts';
import { because, reply } from '../reply.ts';
import { disconnect } from './disconnect.ts';

/**
 * A packet could not be handled because a port is unavailable. If MQTT has an answer that says so, the client gets it
 * and stays connected: nothing was done or promised, and it may try again. Otherwise, and if the packet is under way
 * or was answered, the client is disconnected with the reason: its session makes it try again.
 */
export function* sayUnavailable(
  context: Context,
  link: Link,
  packet: Packet,
  error: Unavailable,
): Flow<void> {
  const violation = noteUnavailable(context, packet, error);
  const { state } = link;
  if (packet.type === 'connect' && state.phase === 'new') return refuse(context, link, packet, violation);
  if (isDropped(packet)) return;
  if (
    state.phase === 'connected' &&
    !(error instanceof UnderWay) &&
    (yield* isAnswered(context, link, state.connection, packet, violation))
  ) {
    return;
  }
  yield* disconnect(context, link, violation.reasonCode, violation.reason);
}

/** Logs the failure, and returns the violation for the client. */
export function noteUnavailable(context: Context, { type }: Packet, error: Unavailable): Violation {
  const { reasonCode } = error;
  context.ports.log.warn('unavailable', { packet: type, reasonCode, reason: reasonOf(error) });
  return new Violation(reasonCode, 'unavailable for a moment; try again later');
}

/** QoS 0 has no answer. */
function isDropped(packet: Packet): boolean {
  return packet.type === 'publish' && packet.qos === 0;
}

function* isAnswered(
  context: Context,
  link: Link,
  connection: Connection,
  packet: Packet,
  { reasonCode, reason }: Violation,
): Flow<boolean> {
  const isFive = connection.protocolVersion === 5;
  switch (packet.type) {
    case 'publish':
      // MQTT 3.1.1 has no answer that refuses. Its client sends again when it is back.
      if (!isFive) return false;
      if (packet.qos === 2)
        yield* waitFor(context.ports.received.release(connection.session, packet.packetId));
      reply(link, connection, {
        type: packet.qos === 1 ? 'puback' : 'pubrec',
        packetId: packet.packetId,
        reasonCode,
        properties: because(reason),
      });
      return true;
    case 'subscribe':
      reply(link, connection, {
        type: 'suback',
        packetId: packet.packetId,
        reasonCodes: packet.subscriptions.map(() => (isFive ? reasonCode : ReasonCode.UnspecifiedError)),
        properties: {},
      });
      return true;
    case 'unsubscribe':
      // MQTT 5.0 has no fitting code for these, and MQTT 3.1.1 has none.
      if (!isFive) return false;
      reply(link, connection, {
        type: 'unsuback',
        packetId: packet.packetId,
        reasonCodes: packet.topicFilters.map(() => ReasonCode.UnspecifiedError),
        properties: {},
      });
      return true;
    default:
      return false;
  }
}
