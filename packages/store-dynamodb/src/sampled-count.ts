import { ThrottledError } from './errors.ts';
import { countKey } from './keys.ts';
import { COUNT_CACHE_MS, COUNT_SAMPLE } from './limits.ts';
import { marshalled, type Table } from './table.ts';
import { number, numberOf, VERSION } from './values.ts';

/**
 * A number over a tenant that is near enough: one change in sixty-four is written, as sixty-four. That is no hot item
 * and no write for each change, and with n changes it is wrong by about 8 √n: 0.8 % of a million.
 * What TTL removes is never counted down: a sweep that counts writes the number anew.
 */
export class SampledCount {
  readonly #table: Table;
  readonly #name: string;
  readonly #cache = new Map<string, { readonly count: number; readonly readAtMs: number }>();

  constructor(table: Table, name: string) {
    this.#table = table;
    this.#name = name;
  }

  async add(tenant: string, change: 1 | -1): Promise<void> {
    if (this.#table.settings.random() * COUNT_SAMPLE >= 1) return;
    try {
      await this.#table.update(countKey(this.#name, tenant), 'SET v = :v ADD n :change', {
        values: { ':v': number(VERSION), ':change': number(change * COUNT_SAMPLE) },
      });
    } catch (error) {
      // What is counted has been done, and must not be taken for refused.
      if (!(error instanceof ThrottledError)) throw error;
    }
  }

  /** Somebody has counted: what was added meanwhile may be missing. */
  async set(tenant: string, count: number): Promise<void> {
    const key = countKey(this.#name, tenant);
    await this.#table.put({ ...marshalled(key), v: number(VERSION), n: number(count) });
  }

  async read(tenant: string): Promise<number> {
    const nowMs = this.#table.settings.clock.now();
    const known = this.#cache.get(tenant);
    if (known !== undefined && nowMs - known.readAtMs < COUNT_CACHE_MS) return known.count;
    const count = Math.max(0, numberOf(await this.#table.get(countKey(this.#name, tenant)), 'n') ?? 0);
    this.#cache.set(tenant, { count, readAtMs: nowMs });
    return count;
  }
}
