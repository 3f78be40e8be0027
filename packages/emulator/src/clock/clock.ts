/** The emulator's time. Everything that waits, expires or is billed uses one of these clocks. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Calls `fn` once, `ms` milliseconds from now. The returned function cancels the timer; cancelling twice is harmless.
   */
  setTimer(ms: number, fn: () => void): () => void;
}

/** The machine's own time. Its timers do not keep the process alive: the listening socket does. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
