import { NEVER_EXPIRES, type Timer } from '@apus/broker';
import type { LiveSession } from './durable-sessions.ts';

/** A timer to be set before the first client is let in. */
export interface DueTimer {
  readonly timer: Timer;
  readonly dueAtMs: number;
}

/**
 * What a restored session still has to come, counted from the end of its last connection. No will is due before
 * `willsFromMs`: while the broker was away no client could return in time.
 */
export function dueTimersOf(session: LiveSession, willsFromMs: number): DueTimer[] {
  const { will, expirySeconds, detachedAtMs = 0, lastConnectionId: connectionId = '' } = session.state;
  const timers: DueTimer[] = [];
  if (will !== undefined) {
    const delaySeconds = Math.min(will.will.properties.willDelayInterval ?? 0, expirySeconds);
    const dueAtMs = Math.max(detachedAtMs + delaySeconds * 1000, willsFromMs);
    timers.push({ timer: { kind: 'will', session, connectionId }, dueAtMs });
  }
  if (expirySeconds !== NEVER_EXPIRES) {
    const dueAtMs = detachedAtMs + expirySeconds * 1000;
    timers.push({ timer: { kind: 'session-expiry', session, connectionId }, dueAtMs });
  }
  return timers;
}
