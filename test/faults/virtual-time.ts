import { vi } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import { seededRandom } from './draws.ts';
import type { HistoryTime } from './time.ts';

/** The original, kept before a test replaces it: one turn of it runs all ready promises and ticks. */
const turn = setImmediate;

/** An arbitrary moment, the same in every run. */
const START_MS = Date.UTC(2026, 0, 1);

/**
 * Time and randomness of this process while a history runs: timers fire one by one, all consequences of one happen
 * before the next, and all random numbers come from the seed. Only one history can run at a time.
 */
export class VirtualTime implements HistoryTime {
  readonly #clock = new VirtualClock(START_MS);

  constructor(seed: number) {
    vi.spyOn(Math, 'random').mockImplementation(seededRandom(seed));
  }

  get nowMs(): number {
    return this.#clock.nowMs - START_MS;
  }

  async advance(ms: number): Promise<void> {
    // Work in progress may still set timers that are due before the end.
    await everythingElse();
    let isOver = false;
    setTimeout(() => {
      isOver = true;
    }, ms);
    while (!isOver) {
      this.#clock.next();
      await everythingElse();
    }
  }

  async during<T>(promise: Promise<T>, msMax = 60_000): Promise<T> {
    let isOver = false;
    const ended = promise.finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    const endsAtMs = this.nowMs + msMax;
    while (!isOver && this.nowMs < endsAtMs) await this.advance(10);
    if (!isOver) throw new Error(`expected it to end within ${msMax} ms`);
    return await ended;
  }

  /** Restores the machine's time. */
  restore(): void {
    this.#clock.restore();
    vi.restoreAllMocks();
  }
}

/** Runs promises and ticks: everything that needs no timer. */
async function everythingElse(): Promise<void> {
  await new Promise<void>((resolve) => turn(() => resolve()));
}
