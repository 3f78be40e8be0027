import type { Scheduler } from '@apus/node';

/** A clock that stands still until it is moved. */
export class HandClock implements Scheduler {
  #nowMs = 0;
  #waiting: { readonly atMs: number; readonly call: () => void }[] = [];

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const waiting = { atMs: this.#nowMs + delayMs, call };
    this.#waiting.push(waiting);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
    };
  }

  move(ms: number): void {
    this.#nowMs += ms;
    const due = this.#waiting.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { call } of due) call();
  }
}
