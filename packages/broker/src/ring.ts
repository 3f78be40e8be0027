import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { NEVER_EXPIRES, type SessionRecord, type Timer } from './ports/index.ts';
import { publishWillOf } from './will.ts';

/** A timer is due. The store decides whether it still means anything. */
export function* ring(context: Context, timer: Timer): Flow<void> {
  const { session, connectionId } = timer;
  if (timer.kind === 'will') return yield* publishWillOf(context, session, connectionId);
  const record = yield* waitFor(context.ports.sessions.get(session.tenant, session.clientId));
  if (record === undefined || record.session.incarnation !== session.incarnation) return;
  const dueAtMs = expiresAtMs(record);
  if (dueAtMs === undefined) return;
  if (dueAtMs > context.ports.clock.now()) yield* waitFor(context.ports.timers.set(timer, dueAtMs));
  else yield* endSession(context, record.session, connectionId);
}

/** When the session ends if its client stays away; undefined while it is connected, and if it never ends. */
function expiresAtMs({ detachedAtMs, expirySeconds }: SessionRecord): number | undefined {
  if (detachedAtMs === undefined || expirySeconds === NEVER_EXPIRES) return undefined;
  return detachedAtMs + expirySeconds * 1000;
}
