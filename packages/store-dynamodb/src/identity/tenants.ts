import { endOfTenants, TENANTS_FROM, tenantKey } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { number, text, textOf, VERSION } from '../table/values.ts';

/*
 * The item of a tenant. `d` is JSON of its entry.
 */

/** Tenants of one page. */
const PAGE_LENGTH_MAX = 100;

export interface TenantsPage {
  readonly tenants: readonly string[];
  /** The next page begins after this name; undefined on the last. */
  readonly next: string | undefined;
}

/** The register of tenants: an item for each, with JSON that only its reader understands. */
export class DynamoTenants {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Read strongly. */
  async get(name: string): Promise<string | undefined> {
    return textOf(await this.#table.get(tenantKey(name)), 'd');
  }

  /** False when there is one of that name. */
  async add(name: string, json: string): Promise<boolean> {
    return await this.#put(name, json, 'attribute_not_exists(p)');
  }

  /** False when another entry than `before` is there, or none. */
  async replace(name: string, before: string, json: string): Promise<boolean> {
    return await this.#put(name, json, 'd = :before', before);
  }

  /** False when there was none. */
  async remove(name: string): Promise<boolean> {
    const { ok, isRetry } = await this.#table.delete(tenantKey(name), { condition: 'attribute_exists(p)' });
    return ok || isRetry;
  }

  /** In the order of their names. */
  async list(after: string | undefined, limit = PAGE_LENGTH_MAX): Promise<TenantsPage> {
    const { p } = tenantKey('');
    const page = { limit: Math.min(limit, PAGE_LENGTH_MAX), after: after && TENANTS_FROM + after };
    const { items, next } = await this.#table.query({ p, from: TENANTS_FROM, to: endOfTenants, ...page });
    const tenants = items.flatMap((item) => textOf(item, 'd') ?? []);
    return { tenants, next: next?.slice(TENANTS_FROM.length) };
  }

  async #put(name: string, json: string, condition: string, before?: string): Promise<boolean> {
    const item = { ...marshalled(tenantKey(name)), v: number(VERSION), d: text(json) };
    const { ok, old, isRetry } = await this.#table.put(item, {
      condition,
      ...(before !== undefined && { values: { ':before': text(before) } }),
    });
    // An earlier attempt, whose answer was lost, may have written it.
    return ok || (isRetry && textOf(old, 'd') === json);
  }
}
