import { type DisconnectReason, tellDisconnected } from '../connect/client-events.ts';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import { type DueTimer, NEVER_EXPIRES, type SessionRecord, type WillDue } from '../ports/index.ts';
import { leaveRooms, leaveRoomsLater } from '../presence/leave-rooms.ts';
import { discardState, endSession } from './end-session.ts';
import type { Grace } from './grace.ts';
import { publishWillOrRemind } from './will.ts';

/** An ended connection, as its session sees it. */
export interface Departure {
  readonly session: SessionRef;
  readonly connectionId: ConnectionId;
  readonly identity: Identity;
  /** When its CONNECT was accepted, in ms since the epoch. */
  readonly connectedAtMs: number;
  /** The Will Delay Interval; undefined: the connection brought no will. */
  readonly willDelaySeconds: number | undefined;
  /** The connection has made a member of a room present. @default not known */
  readonly isPresent?: boolean | undefined;
}

/** How it ended. */
export interface Ending {
  readonly atMs: number;
  readonly expirySeconds: number;
  /** How long a lost client may resume the session without a CONNECT. @default 0 */
  readonly resumeSeconds?: number | undefined;
  /** The reason in `$SYS`. @default 'tcp_closed' */
  readonly reason?: DisconnectReason;
  /** The CONNECT was refused in the end: no connection is reported. @default false */
  readonly isRefused?: boolean;
  /** The connection was closed without DISCONNECT: the client may come back. @default false */
  readonly isLoss?: boolean;
  /** The client has withdrawn its will; or how long the will waits at least. */
  readonly will: 'discarded' | Grace;
}

/**
 * Detaches the session from its connection, or ends it, and publishes or schedules the will. False when another
 * process has done so: the connection was taken over, or its end was noticed before.
 */
export function* endConnection(context: Context, departure: Departure, ending: Ending): Flow<boolean> {
  const { sessions } = context.ports;
  const { session, connectionId } = departure;
  const { expirySeconds, resumeSeconds = 0, atMs } = ending;
  const will = willOf(departure, ending);
  if (endsAtOnce(ending, will) && !isKeptByRooms(context, departure)) {
    const end = yield* waitFor(sessions.end({ session, connectionId, nowMs: atMs }));
    if (end === 'ended') return yield* ended(context, departure, ending);
  }
  const resumableUntilMs = resumeSeconds > expirySeconds ? atMs + resumeSeconds * 1000 : undefined;
  const record = yield* waitFor(
    sessions.detach({ session, connectionId, expirySeconds, resumableUntilMs, nowMs: atMs, will }),
  );
  if (record === undefined) {
    // Another handler may have noticed the loss of this connection first. The will still waits for DISCONNECT.
    if (will === 'discarded') yield* waitFor(sessions.discardWill(session, connectionId));
    if (ending.will === 'discarded' && endsAtOnce(ending, will)) yield* endLost(context, departure);
    return false;
  }
  if (ending.isRefused !== true)
    yield* tellDisconnected(context, record, connectionId, atMs, ending.reason ?? 'tcp_closed');
  yield* leaveRoomsOf(context, departure, ending, record);
  const ofWill = record.willDue && (yield* publishUnlessLater(context, connectionId, record, record.willDue));
  const ofExpiry = yield* endUnlessLater(context, connectionId, record);
  yield* arm(
    context,
    [ofWill, ofExpiry].flatMap((due) => due ?? []),
  );
  return true;
}

function* arm({ ports: { timers } }: Context, due: readonly DueTimer[]): Flow<void> {
  if (due.length > 1 && timers.setAll !== undefined) return yield* waitFor(timers.setAll(due));
  for (const { timer, dueAtMs } of due) yield* waitFor(timers.set(timer, dueAtMs));
}

/**
 * A publisher found the connection gone before its DISCONNECT was handled, so the session waits for a lost client. It
 * ends now: the client does not come back.
 */
function* endLost(context: Context, { session, connectionId }: Departure): Flow<void> {
  // Not if the session has gone on: then its last connection is another one.
  if (!(yield* waitFor(context.ports.sessions.remove(session, connectionId)))) return;
  yield* leaveRooms(context, { session, hasRooms: undefined }, connectionId);
  yield* discardState(context, session);
}

/** Nothing of the session outlives its connection, so one call ends both. */
function endsAtOnce({ expirySeconds, resumeSeconds = 0 }: Ending, will: WillDue | 'discarded' | undefined) {
  return expirySeconds === 0 && resumeSeconds === 0 && (will === undefined || will === 'discarded');
}

/** A store that processes share ends no session that is in a room; asking would cost a write in vain. */
function isKeptByRooms({ ports: { presence } }: Context, { isPresent }: Departure): boolean {
  return isPresent === true && presence?.store.release !== undefined;
}

function* ended(context: Context, departure: Departure, ending: Ending): Flow<true> {
  const { session, connectionId, identity, connectedAtMs: attachedAtMs } = departure;
  const { atMs, reason = 'tcp_closed', isRefused = false } = ending;
  if (!isRefused)
    yield* tellDisconnected(context, { session, identity, attachedAtMs }, connectionId, atMs, reason);
  // A store that processes share answers 'owes-more' for a session in a room, so this one is in none.
  const hasRooms = context.ports.presence?.store.release === undefined ? undefined : false;
  yield* leaveRoomsOf(context, departure, ending, { hasRooms });
  yield* discardState(context, session);
  return true;
}

/** Leaves the rooms at once, or after the grace of the will. */
function* leaveRoomsOf(
  context: Context,
  departure: Departure,
  ending: Ending,
  { hasRooms, rooms }: Pick<SessionRecord, 'hasRooms' | 'rooms'>,
): Flow<void> {
  const { session, connectionId, willDelaySeconds = 0 } = departure;
  const leaving = { session, hasRooms, rooms };
  const { isLoss = false, will, atMs, expirySeconds } = ending;
  if (!isLoss || will === 'discarded') return yield* leaveRooms(context, leaving, connectionId);
  const seconds = Math.max(Math.min(willDelaySeconds, expirySeconds), will.seconds);
  yield* leaveRoomsLater(context, leaving, connectionId, atMs, seconds);
}

/** A session that ends before the delay publishes its will with it [MQTT-3.1.3-9]. */
function willOf(
  { willDelaySeconds }: Departure,
  { will, expirySeconds, atMs }: Ending,
): WillDue | 'discarded' | undefined {
  if (willDelaySeconds === undefined) return undefined;
  if (will === 'discarded') return will;
  const seconds = Math.max(Math.min(willDelaySeconds, expirySeconds), will.seconds);
  return { atMs: atMs + seconds * 1000, isWithdrawnByReturn: will.isWithdrawnByReturn };
}

/** Publishes the will, or returns the timer for one that is not due. */
function* publishUnlessLater(
  context: Context,
  connectionId: ConnectionId,
  { session }: SessionRecord,
  { atMs }: WillDue,
): Flow<DueTimer | undefined> {
  if (atMs > context.ports.clock.now())
    return { timer: { kind: 'will', session, connectionId }, dueAtMs: atMs };
  yield* publishWillOrRemind(context, session, connectionId);
  return undefined;
}

/** Ends the session, or returns the timer for one that goes on for now. */
function* endUnlessLater(
  context: Context,
  connectionId: ConnectionId,
  record: SessionRecord,
): Flow<DueTimer | undefined> {
  const { session, willDue, hasRooms } = record;
  const endsAtMs = sessionEndsAtMs(record);
  if (endsAtMs === undefined) return undefined;
  // The will was due before, and has been published.
  if (endsAtMs <= context.ports.clock.now()) {
    yield* endSession(context, session, connectionId, hasRooms);
    return undefined;
  }
  // One timer for both: if two fired at once, each would publish the will.
  if (endsAtMs === willDue?.atMs) return undefined;
  return { timer: { kind: 'session-expiry', session, connectionId }, dueAtMs: endsAtMs };
}

/**
 * When the session ends if its client stays away: not before its will is due, which may have a grace period, nor while
 * the client may resume it. Undefined: it is connected, or never ends.
 */
export function sessionEndsAtMs(record: SessionRecord): number | undefined {
  const { detachedAtMs, expirySeconds, willDue, resumableUntilMs = 0 } = record;
  if (detachedAtMs === undefined || expirySeconds === NEVER_EXPIRES) return undefined;
  return Math.max(detachedAtMs + expirySeconds * 1000, willDue?.atMs ?? 0, resumableUntilMs);
}
