import FlatQueue from 'flatqueue';

/**
 * Simulated time: events happen in the order of their times, and take no time themselves. Events of the same instant
 * happen in the same order in every run.
 */
export class EventLoop {
  nowMs = 0;
  #events = 0;
  readonly #queue = new FlatQueue<() => void>();

  /** Events that have happened. */
  get events(): number {
    return this.#events;
  }

  after(ms: number, happens: () => void): void {
    this.#queue.push(happens, this.nowMs + Math.max(0, ms));
  }

  /** Runs until no event is left or the time is over; later events do not happen. */
  run(untilMs = Number.POSITIVE_INFINITY): void {
    for (;;) {
      const dueMs = this.#queue.peekValue();
      if (dueMs === undefined || dueMs > untilMs) return;
      const happens = this.#queue.pop();
      this.nowMs = dueMs;
      this.#events += 1;
      happens?.();
    }
  }
}
