import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { sessionEndsAtMs } from './leave.ts';
import type { SessionRecord, Timer } from './ports/index.ts';
import { firePresence } from './presence/leave-rooms.ts';
import { publishWillOf, publishWillOrRemind } from './will.ts';

/** Handles a timer that fires. The store decides whether something is due. */
export function* fireTimer(context: Context, timer: Timer): Flow<void> {
  if (timer.kind === 'will') yield* fireWill(context, timer);
  else if (timer.kind === 'presence') yield* firePresence(context, timer.session, timer.connectionId);
  else yield* fireExpiry(context, timer);
}

/** If the session ends when its will is due, one timer does both. */
function* fireWill(context: Context, timer: Timer): Flow<void> {
  const { session, connectionId } = timer;
  const againAtMs = yield* publishWillOf(context, session, connectionId);
  if (againAtMs !== undefined) return yield* waitFor(context.ports.timers.set(timer, againAtMs));
  const record = yield* recordOf(context, timer);
  const endsAtMs = record && sessionEndsAtMs(record);
  if (endsAtMs !== undefined && endsAtMs <= context.ports.clock.now())
    yield* endSession(context, session, connectionId);
}

function* fireExpiry(context: Context, timer: Timer): Flow<void> {
  const { session, connectionId } = timer;
  const { clock, timers } = context.ports;
  const record = yield* recordOf(context, timer);
  const endsAtMs = record && sessionEndsAtMs(record);
  if (endsAtMs === undefined) return;
  if (endsAtMs > clock.now()) return yield* waitFor(timers.set(timer, endsAtMs));
  // A session that ends publishes its will [MQTT-3.1.2-8].
  if (record?.will !== undefined) yield* publishWillOrRemind(context, session, connectionId);
  yield* endSession(context, session, connectionId);
}

/** The session that set the timer. Undefined: it does not exist any more. */
function* recordOf(context: Context, { session }: Timer): Flow<SessionRecord | undefined> {
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  return record?.session.incarnation === session.incarnation ? record : undefined;
}
