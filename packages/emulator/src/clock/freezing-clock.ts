import type { Clock } from './clock.ts';

/**
 * The clock inside an execution environment: a timer that comes due while the environment is frozen fires when it
 * thaws. The clock may be wrong by a constant.
 */
export class FreezingClock implements Clock {
  readonly #clock: Clock;
  readonly #skewMs: number;
  readonly #cancels = new Set<() => void>();
  #frozen = false;
  #stopped = false;
  #overdue: (() => void)[] = [];

  /** @param skewMs by how much it is ahead of the others */
  constructor(clock: Clock, skewMs = 0) {
    this.#clock = clock;
    this.#skewMs = skewMs;
  }

  now(): number {
    return this.#clock.now() + this.#skewMs;
  }

  setTimer(ms: number, fn: () => void): () => void {
    if (this.#stopped) return () => {};
    let cancelled = false;
    const run = (): void => {
      if (cancelled) return;
      if (this.#frozen) this.#overdue.push(run);
      else fn();
    };
    const cancelTimer = this.#clock.setTimer(ms, () => {
      this.#cancels.delete(cancelTimer);
      run();
    });
    this.#cancels.add(cancelTimer);
    return () => {
      cancelled = true;
      cancelTimer();
      this.#cancels.delete(cancelTimer);
    };
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    const overdue = this.#overdue;
    this.#overdue = [];
    for (const run of overdue) run();
  }

  /** No timer fires any more. */
  stop(): void {
    this.#stopped = true;
    this.#overdue = [];
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
