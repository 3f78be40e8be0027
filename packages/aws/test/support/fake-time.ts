/** Turns of the event loop after which all code sleeps. */
const IDLE_TURNS = 20;

/** Time that passes only while all code sleeps, or when the test says so. */
export class FakeTime {
  nowMs = Date.UTC(2026, 0, 1);
  readonly #sleepers: { readonly dueMs: number; readonly wake: () => void }[] = [];
  #isPassing = false;

  now = (): number => this.nowMs;

  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#sleepers.push({ dueMs: this.nowMs + ms, wake });
      if (!this.#isPassing) void this.#pass();
    });

  async #pass(): Promise<void> {
    this.#isPassing = true;
    while (this.#sleepers.length > 0) {
      for (let turn = 0; turn < IDLE_TURNS; turn += 1) await new Promise(setImmediate);
      this.#sleepers.sort((a, b) => a.dueMs - b.dueMs);
      const next = this.#sleepers.shift();
      if (next === undefined) break;
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.wake();
    }
    this.#isPassing = false;
  }
}
