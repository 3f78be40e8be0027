import { endOfUsers, USERS_FROM, userKey } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { number, text, textOf, VERSION } from '../table/values.ts';

/*
 * The item of a user. `d` is JSON as an entry of a users file has it, with the hash of the password.
 */

/** Users of one page. */
const PAGE_LENGTH_MAX = 100;

export interface UsersPage {
  readonly users: readonly string[];
  /** The next page begins after this name; undefined on the last. */
  readonly next: string | undefined;
}

/** Users with passwords, by tenant: an item for each, with JSON that only its reader understands. */
export class DynamoUsers {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Read strongly: a user that was removed is refused from then on. */
  async get(tenant: string, name: string): Promise<string | undefined> {
    return textOf(await this.#table.get(userKey(tenant, name)), 'd');
  }

  /** False when there is one of that name. */
  async add(tenant: string, name: string, json: string): Promise<boolean> {
    const { ok, old, isRetry } = await this.#put(tenant, name, json, 'attribute_not_exists(p)');
    return ok || (isRetry && textOf(old, 'd') === json);
  }

  /** False when another entry than `before` is there, or none. */
  async replace(tenant: string, name: string, before: string, json: string): Promise<boolean> {
    const { ok, old, isRetry } = await this.#put(tenant, name, json, 'd = :before', before);
    return ok || (isRetry && textOf(old, 'd') === json);
  }

  /** False when there was none. */
  async remove(tenant: string, name: string): Promise<boolean> {
    const { ok, isRetry } = await this.#table.delete(userKey(tenant, name), {
      condition: 'attribute_exists(p)',
    });
    return ok || isRetry;
  }

  /** In the order of their names. */
  async list(tenant: string, after: string | undefined, limit = PAGE_LENGTH_MAX): Promise<UsersPage> {
    const { p } = userKey(tenant, '');
    const page = { limit: Math.min(limit, PAGE_LENGTH_MAX), after: after && USERS_FROM + after };
    const { items, next } = await this.#table.query({ p, from: USERS_FROM, to: endOfUsers, ...page });
    const users = items.flatMap((item) => textOf(item, 'd') ?? []);
    return { users, next: next?.slice(USERS_FROM.length) };
  }

  async #put(tenant: string, name: string, json: string, condition: string, before?: string) {
    const item = { ...marshalled(userKey(tenant, name)), v: number(VERSION), d: text(json) };
    return await this.#table.put(item, {
      condition,
      ...(before !== undefined && { values: { ':before': text(before) } }),
    });
  }
}
