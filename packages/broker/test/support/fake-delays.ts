import type { Delays } from '../../src/index.ts';

/** Calls back when the test moves its clock. */
export class FakeDelays implements Delays {
  nowMs = 0;
  #waiting: { atMs: number; callback: () => void }[] = [];

  after(delayMs: number, callback: () => void): void {
    this.#waiting.push({ atMs: this.nowMs + delayMs, callback });
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const isDue = ({ atMs }: { atMs: number }) => atMs <= this.nowMs;
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((each) => !isDue(each));
    for (const { callback } of due) callback();
  }
}
