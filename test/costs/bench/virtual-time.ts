import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of the event loop after which the work between two waits is done. */
const TURNS = 50;

interface Wait {
  readonly dueMs: number;
  readonly end: () => void;
}

/** A clock that stands still while anything works, and moves to the next wait that is due when all work is done. */
export class VirtualTime {
  nowMs = 0;
  #waits: Wait[] = [];

  wait(milliseconds: number): Promise<void> {
    return new Promise((end) => {
      this.#waits.push({ dueMs: this.nowMs + milliseconds, end });
    });
  }

  /** Does something that waits by this clock. */
  async during(does: () => Promise<void>): Promise<void> {
    let isOver = false;
    const over = does().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (let turn = 0; turn < TURNS && !isOver; turn += 1) await nextTurn();
      this.#endNext();
    }
    await over;
  }

  #endNext(): void {
    const nextMs = Math.min(...this.#waits.map(({ dueMs }) => dueMs));
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.nowMs = nextMs;
    const due = this.#waits.filter(({ dueMs }) => dueMs === nextMs);
    this.#waits = this.#waits.filter(({ dueMs }) => dueMs > nextMs);
    for (const { end } of due) end();
  }
}
