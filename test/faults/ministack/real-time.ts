import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryTime } from '../time.ts';

/** The first start of a service includes its installation. */
const START_MS_MAX = 180_000;

/** The machine's own time, for services that use it. */
export class RealTime implements HistoryTime {
  readonly #startedAtMs = Date.now();

  get nowMs(): number {
    return Date.now() - this.#startedAtMs;
  }

  async advance(ms: number): Promise<void> {
    await sleep(ms);
  }

  async during<T>(promise: Promise<T>, msMax = START_MS_MAX): Promise<T> {
    const cancelled = new AbortController();
    const late = sleep(msMax, undefined, { signal: cancelled.signal }).then(() => {
      throw new Error(`expected it to end within ${msMax} ms`);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      late.catch(() => {});
      cancelled.abort();
    }
  }
}
