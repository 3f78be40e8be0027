import type { Clock } from './clock.ts';

interface Timer {
  readonly dueAtMs: number;
  readonly fn: () => void;
}

/** Turns of the event loop that `advance` waits after each timer, before it looks for the next one. */
const TURNS_PER_STEP = 3;

/** A clock that stands still until a test moves it: two hours pass in a millisecond. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  /** @param startMs any instant; the default is 2026-01-01T00:00:00Z */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  /** Pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimer(ms: number, fn: () => void): () => void {
    const timer = { dueAtMs: this.#nowMs + Math.max(0, ms), fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /**
   * Moves time forward by `ms` and calls every timer on the way, in order and each at its own instant. Between two
   * instants the event loop turns a few times, so that timers which are set meanwhile are found too.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await turnEventLoop();
      const next = this.#earliestUntil(endMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueAtMs);
      next.fn();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #earliestUntil(endMs: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAtMs <= endMs && (earliest === undefined || timer.dueAtMs < earliest.dueAtMs))
        earliest = timer;
    }
    return earliest;
  }
}

async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < TURNS_PER_STEP; turn++) await new Promise(setImmediate);
}
