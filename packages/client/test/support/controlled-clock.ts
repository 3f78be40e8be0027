import type { Timers } from '../../src/index.ts';

interface Entry {
  at: number;
  readonly callback: () => void;
}

/** A clock that only the test moves. */
export class ControlledClock implements Timers {
  #now = 1_700_000_000_000;
  #deferred: (() => void)[] = [];
  readonly #entries = new Set<Entry>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    const entry = { at: this.#now + milliseconds, callback };
    this.#entries.add(entry);
    return entry;
  }

  clearTimeout(timer: unknown): void {
    this.#entries.delete(timer as Entry);
  }

  defer(callback: () => void): void {
    this.#deferred.push(callback);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#entries.size;
  }

  /** Runs the timers and promises that are due now. */
  async runDue(): Promise<void> {
    do {
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      for (const callback of this.#deferred.splice(0)) callback();
    } while (this.#deferred.length > 0);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    if (this.#deferred.length > 0) await this.runDue();
  }

  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.runDue();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#entries.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await this.runDue();
    }
    this.#now = end;
  }

  /** The computer sleeps: time passes, but no timer runs until it wakes. */
  async sleep(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    await this.advance(0);
  }

  /** The wall clock is set: no time passes. */
  step(milliseconds: number): void {
    this.#now += milliseconds;
    for (const entry of this.#entries) entry.at += milliseconds;
  }

  /** Time passes and no timer runs, as on a page whose timers the browser slows down. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  #next(end: number): Entry | undefined {
    const due = [...this.#entries].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
    return due[0];
  }
}
