import { ReasonCode } from '@apus/mqtt';
import { tellDisconnected } from '../connect/client-events.ts';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { OpenedSession, SessionRecord } from '../ports/index.ts';
import { leaveRoomsLater } from '../presence/leave-rooms.ts';
import { disconnectFor } from '../reply.ts';
import { discardState } from './end-session.ts';

const TAKEN_OVER = 'another client connected with the same client identifier';

/**
 * Closes the connection that was taken over [MQTT-3.1.4-3] [MQTT3-3.1.4-2], and clears the state of an ended session.
 */
export function* endPrevious(context: Context, opened: OpenedSession, previous: SessionRecord): Flow<void> {
  const { attachment, session, lastConnectionId: connectionId } = previous;
  const { connections, timers, clock } = context.ports;
  if (attachment !== undefined) {
    const disconnect = disconnectFor(attachment, ReasonCode.SessionTakenOver, TAKEN_OVER);
    yield* waitFor(connections.close(connectionId, disconnect));
    const reason = opened.present ? 'takenover' : 'discarded';
    yield* tellDisconnected(context, previous, connectionId, clock.now(), reason);
  }
  yield* waitFor(timers.cancel({ kind: 'will', session, connectionId }));
  yield* waitFor(timers.cancel({ kind: 'session-expiry', session, connectionId }));
  if (opened.present) return;
  // A client that takes over its own connection publishes to its rooms again. A session that ended before and still
  // has rooms is within its grace period, or the process that was to leave its rooms has died.
  if (attachment !== undefined || previous.hasRooms === true)
    yield* leaveRoomsLater(context, previous, connectionId, clock.now(), 0);
  yield* discardState(context, session);
}
