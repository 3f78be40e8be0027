import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { SessionRecord, Timer } from '../ports/index.ts';
import { firePresence } from '../presence/leave-rooms.ts';
import { sessionEndsAtMs } from './end-connection.ts';
import { endSession } from './end-session.ts';
import { publishWillOf, publishWillOrRemind } from './will.ts';

/**
 * Handles a timer that fires. The store decides whether something is due: by the wall clock, or at the time of the
 * timer, which has passed even if the wall clock has gone back.
 */
export function* fireTimer(context: Context, timer: Timer, dueAtMs = 0): Flow<void> {
  const nowMs = Math.max(context.ports.clock.now(), dueAtMs);
  if (timer.kind === 'will') yield* fireWill(context, timer, nowMs);
  else if (timer.kind === 'presence') yield* firePresence(context, timer.session, timer.connectionId);
  else yield* fireExpiry(context, timer, nowMs);
}

/** If the session ends when its will is due, one timer does both. */
function* fireWill(context: Context, timer: Timer, nowMs: number): Flow<void> {
  const { session, connectionId } = timer;
  const againAtMs = yield* publishWillOf(context, session, connectionId, nowMs);
  if (againAtMs !== undefined) return yield* waitFor(context.ports.timers.set(timer, againAtMs));
  const record = yield* recordOf(context, timer);
  const endsAtMs = record && sessionEndsAtMs(record);
  if (endsAtMs !== undefined && endsAtMs <= nowMs) yield* endSession(context, session, connectionId);
}

function* fireExpiry(context: Context, timer: Timer, nowMs: number): Flow<void> {
  const { session, connectionId } = timer;
  const record = yield* recordOf(context, timer);
  const endsAtMs = record && sessionEndsAtMs(record);
  if (endsAtMs === undefined) return;
  if (endsAtMs > nowMs) return yield* waitFor(context.ports.timers.set(timer, endsAtMs));
  // A session that ends publishes its will [MQTT-3.1.2-8].
  if (record?.will !== undefined) yield* publishWillOrRemind(context, session, connectionId, nowMs);
  yield* endSession(context, session, connectionId);
}

/** The session that set the timer. Undefined: it does not exist any more. */
function* recordOf(context: Context, { session }: Timer): Flow<SessionRecord | undefined> {
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  return record?.session.incarnation === session.incarnation ? record : undefined;
}
