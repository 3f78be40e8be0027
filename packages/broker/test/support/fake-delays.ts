import type { Delays } from '../../src/index.ts';

/** Calls back when the test moves its clock. */
export class FakeDelays implements Delays {
  nowMs = 0;
  #waiting: { atMs: number; callback: () => void }[] = [];

  /** Callbacks that wait. */
  get size(): number {
    return this.#waiting.length;
  }

  after(delayMs: number, callback: () => void): () => void {
    const waiting = { atMs: this.nowMs + delayMs, callback };
    this.#waiting.push(waiting);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
    };
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const isDue = ({ atMs }: { atMs: number }) => atMs <= this.nowMs;
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((each) => !isDue(each));
    for (const { callback } of due) callback();
  }
}
