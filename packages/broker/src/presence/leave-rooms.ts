import type { Context } from '../context.ts';
import { whenDelivered } from '../deliver/deliver.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import type { Presence, PresenceChange, PresencePlace, SessionRecord } from '../ports/index.ts';
import { noteChange } from './tell.ts';

/**
 * How long a lost client stays present at least, in seconds: mqtt.js is back after one, and its program publishes to
 * the room again, perhaps in another session.
 */
export const PRESENCE_GRACE_SECONDS = 5;

/** A session, and whether it is in rooms, as far as it was read. */
type Leaving = Pick<SessionRecord, 'session' | 'hasRooms' | 'rooms'>;

/**
 * The connection of the session is over. The members that the session makes present leave, unless another session, or
 * a later connection of this one, makes them present too.
 */
export function* leaveRooms(
  context: Context,
  { session, hasRooms, rooms }: Leaving,
  connectionId: ConnectionId,
): Flow<void> {
  const { presence } = context.ports;
  if (presence === undefined || hasRooms === false) return;
  for (const place of rooms ?? (yield* waitFor(presence.store.ownedBy(session))))
    yield* leaveRoom(context, presence, session, place, connectionId);
}

/**
 * The session does not make the member present any more. A store that processes share keeps the place of the session
 * until watchers have been told:
 *
 *     handler of DISCONNECT              sweep
 *     the member is gone
 *     dies
 *                                        the session still has the place: the member is gone, and watchers are told
 */
export function* leaveRoom(
  context: Context,
  presence: Presence,
  session: SessionRef,
  place: PresencePlace,
  connectionId: ConnectionId,
): Flow<PresenceChange> {
  const { store } = presence;
  const changed = yield* waitFor(store.remove(place, session, connectionId));
  const { change } = changed;
  if (change === 'left' || changed.told !== undefined) yield* noteChange(context, presence, place, changed);
  if (store.release !== undefined && (change === 'left' || change === 'still-there'))
    yield* whenDelivered(context, () => waitFor(store.release?.(place, session)));
  return changed;
}

/** Sets the timer of a lost client: it then leaves its rooms, unless its session has gone on. */
export function* leaveRoomsLater(
  context: Context,
  { session, hasRooms }: Leaving,
  connectionId: ConnectionId,
  atMs: number,
  seconds: number,
): Flow<void> {
  const { presence, timers } = context.ports;
  if (presence === undefined || hasRooms === false) return;
  if (hasRooms === undefined && (yield* waitFor(presence.store.ownedBy(session))).length === 0) return;
  const graceSeconds = Math.max(context.options.presenceGraceSeconds ?? PRESENCE_GRACE_SECONDS, seconds);
  yield* waitFor(timers.set({ kind: 'presence', session, connectionId }, atMs + graceSeconds * 1000));
}

/** The timer of a lost client. A session that has gone on, or was lost again since, stays in its rooms. */
export function* firePresence(context: Context, session: SessionRef, connectionId: ConnectionId): Flow<void> {
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  const isThat = record?.session.incarnation === session.incarnation;
  if (isThat && (record.attachment !== undefined || record.lastConnectionId !== connectionId)) return;
  const { presence } = context.ports;
  if (isThat && presence?.store.mayLeave !== undefined)
    if (!(yield* waitFor(presence.store.mayLeave(session, connectionId)))) return;
  yield* leaveRooms(context, { session }, connectionId);
}
