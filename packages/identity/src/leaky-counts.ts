export interface LeakyCountsOptions {
  /** A count falls by one in this time. */
  readonly leakMs: number;
  /** The highest count: it takes `countMax` times `leakMs` to fall to 0. */
  readonly countMax: number;
  /** Most remembered keys. Above it the one that was counted longest ago is dropped. */
  readonly keysMax: number;
}

export interface LeakyCount {
  /** The count at `atMs`; it has fallen since. */
  readonly count: number;
  readonly atMs: number;
}

/** How often each key was counted recently. */
export class LeakyCounts {
  readonly #options: LeakyCountsOptions;
  /** In the order of the last count, oldest first. */
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

  /** The present count. */
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

  /** Drops, from the oldest on, counts that are 0 and those above the limit. */
  #forget(nowMs: number): void {
    for (const [key, last] of this.#counts) {
      if (this.#counts.size <= this.#options.keysMax && this.#left(last, nowMs) > 0) return;
      this.#counts.delete(key);
    }
  }
}
