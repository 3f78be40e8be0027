/** The emulator's time. Everything that waits, expires or is billed uses one of these clocks. */
export interface Clock {
  /** Milliseconds since the Unix epoch. AWS's clocks do not step, and neither does this one. */
  now(): number;
  /**
   * Calls `fn` once, `ms` milliseconds from now. The returned function cancels the timer; cancelling twice is harmless.
   */
  setTimer(ms: number, fn: () => void): () => void;
}

/**
 * The machine's own time, as it was when the process began, and what has passed since: connections and quotas survive a
 * correction of the wall clock. Its timers do not keep the process alive: the listening socket does.
 */
export const systemClock: Clock = {
  now: () => Math.trunc(performance.timeOrigin + performance.now()),
  setTimer(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
