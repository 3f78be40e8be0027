import type { Clock } from '@apus/broker';

/** The wall clock tells whole milliseconds, and is slowed down or sped up a little all the time. */
const DIFFERENCE_MS_MIN = 10;

/**
 * The clocks of a function. `performance.now` may stand still while Lambda freezes the environment, and what is cached
 * would count as fresh then: where the wall clock has gone further, so has the steady clock. It never goes back.
 */
export function functionClock(): Clock {
  let originMs = Date.now() - performance.now();
  let frozenMs = 0;
  return {
    now: () => Date.now(),
    steady() {
      const elapsedMs = performance.now();
      const aheadMs = Date.now() - elapsedMs - originMs;
      if (Math.abs(aheadMs) >= DIFFERENCE_MS_MIN) {
        originMs += aheadMs;
        frozenMs += Math.max(0, aheadMs);
      }
      return Math.trunc(elapsedMs + frozenMs);
    },
  };
}
