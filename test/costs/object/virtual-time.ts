interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * The time of a `workerd`, which passes only when the bench says so: timers wait for it, and it knows how long one of
 * them has kept an object awake. The platform bills that time.
 */
export class VirtualTime {
  nowMs = 1_800_000_000_000;
  /** Time that has passed while a timer was set. */
  awakeMs = 0;
  readonly #timers = new Map<number, Timer>();
  #lastId = 0;

  /** Takes the place of the runtime's clock and timers. */
  install(): void {
    Date.now = () => this.nowMs;
    Object.assign(globalThis, {
      setTimeout: (run: () => void, delayMs = 0) => this.#set(run, delayMs),
      clearTimeout: (id: number) => void this.#timers.delete(id),
    });
  }

  get hasTimers(): boolean {
    return this.#timers.size > 0;
  }

  /** Lets time pass until the next timer, or at most so long, and runs what is due. Returns what is left. */
  step(ms: number, alarmAtMs = Number.POSITIVE_INFINITY): number {
    const [id, next] = this.#next();
    const atMs = Math.max(this.nowMs, Math.min(next.atMs, alarmAtMs, this.nowMs + ms));
    const passedMs = atMs - this.nowMs;
    if (this.hasTimers) this.awakeMs += passedMs;
    this.nowMs = atMs;
    if (next.atMs <= atMs) {
      this.#timers.delete(id);
      next.run();
    }
    return ms - passedMs;
  }

  #set(run: () => void, delayMs: number): number {
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { atMs: this.nowMs + Math.max(0, delayMs), run });
    return this.#lastId;
  }

  #next(): readonly [number, Timer] {
    let found: readonly [number, Timer] = [0, { atMs: Number.POSITIVE_INFINITY, run: () => {} }];
    for (const entry of this.#timers) if (entry[1].atMs < found[1].atMs) found = entry;
    return found;
  }
}
