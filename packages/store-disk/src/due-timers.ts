import { NEVER_EXPIRES, type Timer } from '@apus/broker';
import type { LiveSession } from './durable-sessions.ts';

/** A timer to be set before the first client is let in. */
export interface DueTimer {
  readonly timer: Timer;
  readonly dueAtMs: number;
}

/** The timers of a restored session, counted from the end of its last connection. */
export function dueTimersOf(session: LiveSession): DueTimer[] {
  const { will, expirySeconds, detachedAtMs = 0, lastConnectionId: connectionId } = session.state;
  const timers: DueTimer[] = [];
  if (will?.due !== undefined) {
    timers.push({ timer: { kind: 'will', session, connectionId }, dueAtMs: will.due.atMs });
  }
  const dueAtMs = detachedAtMs + expirySeconds * 1000;
  // A session does not end before its will is due: then the will's timer does both.
  if (expirySeconds !== NEVER_EXPIRES && dueAtMs > (will?.due?.atMs ?? 0)) {
    timers.push({ timer: { kind: 'session-expiry', session, connectionId }, dueAtMs });
  }
  return timers;
}
