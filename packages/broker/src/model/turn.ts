import { type Clock, steadyNow } from './clock.ts';

/**
 * Milliseconds of work for one client, or of one kind, in a turn of the event loop [SEC-WORK-5]. The rest has a later
 * turn: other clients are served in between. A packet that takes longer is finished, and the next one waits.
 */
export const TURN_MS_MAX = 10;

/** The time since a turn of the event loop began on some work. */
export class Turn {
  readonly #clock: Clock;
  readonly #beganAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganAtMs = steadyNow(clock);
  }

  /** Whether the rest of the work has to wait for a later turn. */
  get isOver(): boolean {
    return steadyNow(this.#clock) - this.#beganAtMs >= TURN_MS_MAX;
  }
}
