import type { Scheduler } from '@apus/door';

interface Alarm {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Time that stands still until a test moves it. */
export class FakeScheduler implements Scheduler {
  #nowMs = Date.parse('2026-01-01T00:00:00Z');
  #steppedMs = 0;
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return this.#nowMs + this.#steppedMs;
  }

  steady(): number {
    return this.#nowMs;
  }

  /** Sets the wall clock forward, or back: no time passes. */
  step(ms: number): void {
    this.#steppedMs += ms;
  }

  /** Time passes while the process works: nothing is called back. */
  spend(ms: number): void {
    this.#nowMs += ms;
  }

  after(delayMs: number, callback: () => void): () => void {
    const alarm = { atMs: this.#nowMs + delayMs, callback };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Moves time on and calls back, in order, what is due on the way. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#alarms.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #next(endMs: number): Alarm | undefined {
    let next: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.atMs <= endMs && (next === undefined || alarm.atMs < next.atMs)) next = alarm;
    }
    return next;
  }
}
