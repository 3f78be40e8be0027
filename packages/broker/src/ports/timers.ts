import type { Awaitable } from '../flow.ts';
import type { ConnectionId, SessionRef } from '../session.ts';

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

/**
 * Something that is due later. A timer is a reminder and decides nothing: when it rings the broker looks at the
 * session, so one that rings twice, late, or for a session that is back is harmless.
 */
export interface Timer {
  readonly kind: 'will' | 'session-expiry' | 'presence';
  readonly session: SessionRef;
  /** The connection whose end set the timer. */
  readonly connectionId: ConnectionId;
}

/** A timer, and when it rings, in ms since the epoch. */
export interface DueTimer {
  readonly timer: Timer;
  readonly dueAtMs: number;
}

export interface Timers {
  /** Rings once at or after `dueAtMs`. A later call for the same kind, session and connection replaces the earlier one. */
  set(timer: Timer, dueAtMs: number): Awaitable<void>;
  /** Several at once. @default one after another */
  setAll?(timers: readonly DueTimer[]): Awaitable<void>;
  /** Best effort. */
  cancel(timer: Timer): Awaitable<void>;
}
