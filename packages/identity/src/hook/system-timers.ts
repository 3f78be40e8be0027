import type { HookTimers } from './hook-client.ts';

/** The machine's. A timeout of seconds fits into what `setTimeout` takes. */
export const systemTimers: HookTimers = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
