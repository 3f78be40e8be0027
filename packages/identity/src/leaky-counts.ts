export interface LeakyCountsOptions {
  /** A count falls by one in this time. */
  readonly leakMs: number;
  /** A count rises no further, so that it is 0 again after `countMax` times `leakMs`. */
  readonly countMax: number;
  /** Keys that are remembered. Beyond it the one that was counted longest ago is forgotten. */
  readonly keysMax: number;
}

export interface LeakyCount {
  /** At `atMs`; it has fallen since. */
  readonly count: number;
  readonly atMs: number;
}

/** How often each key was counted lately. */
export class LeakyCounts {
  readonly #options: LeakyCountsOptions;
  /** In the order of their last count, oldest first. */
  readonly #counts = new Map<string, LeakyCount>();

  constructor(options: LeakyCountsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** The key's last count, and its time; undefined when that has leaked away. */
  last(key: string, nowMs: number): LeakyCount | undefined {
    const last = this.#counts.get(key);
    return last !== undefined && this.#left(last, nowMs) > 0 ? last : undefined;
  }

  /** The count of now. */
  count(key: string, nowMs: number): number {
    const last = this.#counts.get(key);
    return last === undefined ? 0 : this.#left(last, nowMs);
  }

  add(key: string, nowMs: number): void {
    const count = Math.min(this.count(key, nowMs) + 1, this.#options.countMax);
    this.#counts.delete(key);
    this.#counts.set(key, { count, atMs: nowMs });
    this.#forget(nowMs);
  }

  delete(key: string): void {
    this.#counts.delete(key);
  }

  #left({ count, atMs }: LeakyCount, nowMs: number): number {
    return Math.max(0, count - Math.max(0, nowMs - atMs) / this.#options.leakMs);
  }

  /** From the oldest on: those that have leaked away, and those beyond the bound. */
  #forget(nowMs: number): void {
    for (const [key, last] of this.#counts) {
      if (this.#counts.size <= this.#options.keysMax && this.#left(last, nowMs) > 0) return;
      this.#counts.delete(key);
    }
  }
}
