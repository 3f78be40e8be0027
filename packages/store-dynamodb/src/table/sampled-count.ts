import { steadyNow } from '@apus/broker';
import { COUNT_CACHE_MS } from '../limits.ts';
import { ThrottledError } from './errors.ts';
import { countKey } from './keys.ts';
import { marshalled, type Table } from './table.ts';
import { number, numberOf, VERSION } from './values.ts';

/**
 * An approximate number over a tenant: one in sixty-four changes by one is written, as sixty-four. So the item is not
 * hot, most changes cost no write, and after n changes the number is wrong by about 8 √n: 0.8 % of a million. A larger
 * change is written with a higher probability; one of the sample or more always, as it is. TTL's deletions are not
 * subtracted: a sweep that counts writes the number anew.
 */
export class SampledCount {
  readonly #table: Table;
  readonly #name: string;
  readonly #sample: number;
  readonly #cache = new Map<string, { readonly count: number; readonly readAtMs: number }>();

  /** @param sample how many changes one write stands for */
  constructor(table: Table, name: string, sample: number) {
    this.#table = table;
    this.#name = name;
    this.#sample = sample;
  }

  async add(tenant: string, change: number): Promise<void> {
    if (this.#table.settings.random() * this.#sample >= Math.abs(change)) return;
    const written = Math.sign(change) * Math.max(Math.abs(change), this.#sample);
    try {
      await this.#table.update(countKey(this.#name, tenant), 'SET v = :v ADD n :change', {
        values: { ':v': number(VERSION), ':change': number(written) },
      });
    } catch (error) {
      // The write has been made, so this is no refusal.
      if (!(error instanceof ThrottledError)) throw error;
    }
  }

  /** Writes the number that a sweep has counted. Changes during the count may be missing. */
  async set(tenant: string, count: number): Promise<void> {
    const key = countKey(this.#name, tenant);
    await this.#table.put({ ...marshalled(key), v: number(VERSION), n: number(count) });
  }

  async read(tenant: string): Promise<number> {
    const nowMs = steadyNow(this.#table.settings.clock);
    const known = this.#cache.get(tenant);
    if (known !== undefined && nowMs - known.readAtMs < COUNT_CACHE_MS) return known.count;
    const count = Math.max(0, numberOf(await this.#table.get(countKey(this.#name, tenant)), 'n') ?? 0);
    this.#cache.set(tenant, { count, readAtMs: nowMs });
    return count;
  }
}
