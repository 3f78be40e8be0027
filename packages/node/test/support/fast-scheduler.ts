import type { Scheduler } from '@apus/door';

/** Time that passes several times as fast, for the time limits of both ends. It counts the timers that are set. */
export class FastScheduler implements Scheduler {
  readonly #factor: number;
  readonly #beganMs = Date.now();
  readonly #began = performance.now();
  readonly #pending = new Map<object, number>();

  constructor(factor: number) {
    this.#factor = factor;
  }

  /** The delays of the timers that are set, in milliseconds of this time. */
  get pending(): number[] {
    return [...this.#pending.values()];
  }

  now(): number {
    return this.#beganMs + this.#passedMs;
  }

  steady(): number {
    return this.#passedMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      callback();
    }, delayMs / this.#factor);
    timer.unref();
    this.#pending.set(timer, delayMs);
    return () => {
      this.#pending.delete(timer);
      clearTimeout(timer);
    };
  }

  get #passedMs(): number {
    return (performance.now() - this.#began) * this.#factor;
  }
}
