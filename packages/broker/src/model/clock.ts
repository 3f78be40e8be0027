/** The clocks of the machine. */
export const systemClock = {
  now: () => Date.now(),
  steady: () => Math.trunc(performance.now()),
} as const satisfies Clock;

/** For the time that passes between two moments of one process: rates, timeouts, pauses, the age of what is cached. */
export function steadyNow(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

/** Two clocks of a process (docs/architecture.md, "Clocks"). */
export interface Clock {
  /** The wall clock, in ms since the epoch. It steps, forward or back, when the machine's time is corrected. */
  now(): number;
  /** A clock without steps, in ms since any moment. `steadyNow` reads it. @default `now` */
  steady?(): number;
}
