import { type Clock, systemClock } from '@apus/broker';

export interface HookTimers extends Clock {
  /** Calls back once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's. A timeout of seconds fits into what `setTimeout` takes. */
export const systemTimers: HookTimers = {
  ...systemClock,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
