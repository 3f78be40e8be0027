import { type DisconnectPacket, ReasonCode } from '@apus/mqtt';
import { tellDisconnected } from './client-events.ts';
import type { Context } from './context.ts';
import { discardState } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import type { OpenedSession, SessionRecord } from './ports/index.ts';
import { leaveRoomsLater } from './presence/leave-rooms.ts';
import { because, fitted } from './reply.ts';
import type { Attachment } from './session.ts';

/**
 * Closes the connection that was taken over [MQTT-3.1.4-3] [MQTT3-3.1.4-2], and clears the state of an ended session.
 */
export function* endPrevious(context: Context, opened: OpenedSession, previous: SessionRecord): Flow<void> {
  const { attachment, session, lastConnectionId: connectionId } = previous;
  const { connections, timers, clock } = context.ports;
  if (attachment !== undefined) yield* waitFor(connections.close(connectionId, takenOver(attachment)));
  if (attachment !== undefined)
    yield* tellDisconnected(context, previous, clock.now(), opened.present ? 'takenover' : 'discarded');
  yield* waitFor(timers.cancel({ kind: 'will', session, connectionId }));
  yield* waitFor(timers.cancel({ kind: 'session-expiry', session, connectionId }));
  if (opened.present) return;
  // A client that takes over its own connection publishes to its rooms again. A session that ended before and still
  // has rooms is within its grace period, or the process that was to leave its rooms has died.
  if (attachment !== undefined || previous.hasRooms === true)
    yield* leaveRoomsLater(context, previous, connectionId, clock.now(), 0);
  yield* discardState(context, session);
}

/**
 * The DISCONNECT for the old connection: none before MQTT 5.0, and none that is larger than the client takes
 * [MQTT-3.14.2-3].
 */
function takenOver({ protocolVersion, maximumPacketSize }: Attachment): DisconnectPacket | undefined {
  if (protocolVersion < 5) return undefined;
  const properties = because('another client connected with the same client identifier');
  const disconnect: DisconnectPacket = {
    type: 'disconnect',
    reasonCode: ReasonCode.SessionTakenOver,
    properties,
  };
  return fitted(disconnect, protocolVersion, maximumPacketSize);
}
