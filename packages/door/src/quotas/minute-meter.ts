const MINUTE_MS = 60_000;

/** How many steps a minute is counted in: the oldest one is forgotten as a whole. */
const STEPS = 12;

const STEP_MS = MINUTE_MS / STEPS;

/**
 * Counts things in the last minute, to five seconds. It is a few numbers: no timer runs, and a count allocates
 * nothing.
 */
export class MinuteMeter {
  readonly #counts = new Float64Array(STEPS);
  #step = 0;

  add(count: number, nowMs: number): void {
    this.#moveTo(nowMs);
    const index = this.#step % STEPS;
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
  }

  total(nowMs: number): number {
    this.#moveTo(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** If the clock goes back, the newest step counts. */
  #moveTo(nowMs: number): void {
    const step = Math.floor(nowMs / STEP_MS);
    const passed = Math.min(step - this.#step, STEPS);
    for (let offset = 1; offset <= passed; offset += 1) this.#counts[(this.#step + offset) % STEPS] = 0;
    this.#step = Math.max(this.#step, step);
  }
}
