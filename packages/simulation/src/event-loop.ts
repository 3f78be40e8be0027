import FlatQueue from 'flatqueue';

/**
 * Simulated time: what is due happens in its order, and nothing takes any of it. What is due at the same instant
 * happens in some order, which is the same in every run.
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

  /** Until nothing is left, or the time is over; what is due later stays undone. */
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
