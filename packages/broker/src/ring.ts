import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { sessionEndsAtMs } from './leave.ts';
import type { Timer } from './ports/index.ts';
import { publishWillOrRemind } from './will.ts';

/** A timer is due. The store decides whether it still means anything. */
export function* ring(context: Context, timer: Timer): Flow<void> {
  const { session, connectionId } = timer;
  if (timer.kind === 'will') return yield* publishWillOrRemind(context, session, connectionId);
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  if (record === undefined || record.session.incarnation !== session.incarnation) return;
  const endsAtMs = sessionEndsAtMs(record);
  if (endsAtMs === undefined) return;
  if (endsAtMs > context.ports.clock.now()) return yield* waitFor(context.ports.timers.set(timer, endsAtMs));
  // A session that ends takes its will along [MQTT-3.1.2-8].
  if (record.will !== undefined) yield* publishWillOrRemind(context, record.session, connectionId);
  yield* endSession(context, record.session, connectionId);
}
