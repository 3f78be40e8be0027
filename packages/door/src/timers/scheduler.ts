import { type Clock, systemClock } from '@apus/broker';

/** The door's time. A test replaces it, and moves it by hand. */
export interface Scheduler extends Clock {
  /** Calls back once after at least `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** `setTimeout` has 32 bits for its delay, and fires at once for a longer one. */
const DELAY_MS_MAX = 0x7fff_ffff;

export const systemScheduler: Scheduler = {
  ...systemClock,
  after(delayMs, callback) {
    let timer: NodeJS.Timeout;
    const sleep = (remainingMs: number): void => {
      const napMs = Math.min(Math.max(remainingMs, 0), DELAY_MS_MAX);
      timer = setTimeout(() => (remainingMs > napMs ? sleep(remainingMs - napMs) : callback()), napMs);
      // A reminder alone does not keep the process alive: the listening socket does.
      timer.unref();
    };
    sleep(delayMs);
    return () => clearTimeout(timer);
  },
};
