import type { Awaitable } from '../model/flow.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';

/**
 * Something that is due later. A timer decides nothing: when it fires the broker looks at the session, so a timer that
 * fires twice, or late, or for a session that is back does no harm.
 */
export interface Timer {
  readonly kind: 'will' | 'session-expiry' | 'presence';
  readonly session: SessionRef;
  /** The connection at whose end the timer was set. */
  readonly connectionId: ConnectionId;
}

/** A timer and its time, by the wall clock. */
export interface DueTimer {
  readonly timer: Timer;
  readonly dueAtMs: number;
}

export interface Timers {
  /**
   * Fires once at or after `dueAtMs`. A later call for the same kind, session and connection replaces the earlier one.
   */
  set(timer: Timer, dueAtMs: number): Awaitable<void>;
  /** Sets several timers. @default one after another */
  setAll?(timers: readonly DueTimer[]): Awaitable<void>;
  /** Best effort. */
  cancel(timer: Timer): Awaitable<void>;
}
