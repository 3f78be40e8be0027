import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../flow.ts';
import type { ConnectionId, SessionRef } from '../session.ts';
import { noteChange } from './tell.ts';

/**
 * Seconds that a lost client stays present at least: mqtt.js is back after one, and its program publishes to the room
 * again, perhaps in another session.
 */
export const PRESENCE_GRACE_SECONDS = 5;

/** Members that the session makes present leave, unless another session makes them present as well. */
export function* leaveRooms(context: Context, session: SessionRef): Flow<void> {
  const { presence } = context.ports;
  if (presence === undefined) return;
  const { store } = presence;
  for (const place of yield* waitFor(store.ownedBy(session))) {
    const { change } = yield* waitFor(store.remove(place, session));
    if (change === 'left') yield* noteChange(context, presence, place.tenant, place.room);
  }
}

/** The client was lost: it leaves its rooms then, unless its session has gone on. */
export function* leaveRoomsLater(
  context: Context,
  session: SessionRef,
  connectionId: ConnectionId,
  atMs: number,
  seconds: number,
): Flow<void> {
  const { presence, timers } = context.ports;
  if (presence === undefined || (yield* waitFor(presence.store.ownedBy(session))).length === 0) return;
  const graceSeconds = Math.max(context.options.presenceGraceSeconds ?? PRESENCE_GRACE_SECONDS, seconds);
  yield* waitFor(timers.set({ kind: 'presence', session, connectionId }, atMs + graceSeconds * 1000));
}

/** The timer of a loss. A session that goes on, or has been lost once more since, stays in its rooms. */
export function* ringPresence(context: Context, session: SessionRef, connectionId: ConnectionId): Flow<void> {
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  const isThat = record?.session.incarnation === session.incarnation;
  if (isThat && (record.attachment !== undefined || record.lastConnectionId !== connectionId)) return;
  yield* leaveRooms(context, session);
}
