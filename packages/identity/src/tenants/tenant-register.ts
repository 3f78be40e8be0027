import type { Awaitable, Clock } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import { DEFAULT_TENANT, isTenant } from '../tenant.ts';
import { CHANGEABLE, parseTenant, readTenantEntry, type TenantEntry } from './tenant-entry.ts';

/** A page of entries, in JSON. */
export interface TenantsPage {
  readonly tenants: readonly string[];
  /** The next page begins after this name; undefined on the last page. */
  readonly next: string | undefined;
}

/** The store of the entries, each in JSON. Every answer is the present state. */
export interface TenantStore {
  get(name: string): Awaitable<string | undefined>;
  /** False if a tenant has this name. */
  add(name: string, json: string): Awaitable<boolean>;
  /** False if there is another entry than `before`, or none. */
  replace(name: string, before: string, json: string): Awaitable<boolean>;
  /** False if there was none. */
  remove(name: string): Awaitable<boolean>;
  /**
   * In the order of their names.
   *
   * @param limit a page may have more where the store has no pages
   */
  list(after: string | undefined, limit?: number): Awaitable<TenantsPage>;
}

/** Acts on the clients of a tenant at one door. `R` is its report: how many were disconnected. */
export interface TenantClients<R> {
  /** Refuses the clients of a tenant from now on, and disconnects those that are connected; their sessions stay. */
  suspend(tenant: string, reason: string | undefined): Promise<R>;
  resume(tenant: string): Promise<void>;
  /** Ends the sessions of a tenant, and deletes its retained messages, users and bans. */
  clear(tenant: string): Promise<R>;
}

export interface TenantRegisterOptions<R> {
  readonly store: TenantStore;
  readonly clients: TenantClients<R>;
  readonly clock: Clock;
}

/**
 * Tenants and their administration, the same at a node and in a deployment. If the process dies between two steps of a
 * change, repeating the request completes it.
 */
export class TenantRegister<R extends object = object> {
  readonly #options: TenantRegisterOptions<R>;

  constructor(options: TenantRegisterOptions<R>) {
    this.#options = options;
  }

  async list(
    after: string | undefined,
    limit?: number,
  ): Promise<{ readonly tenants: readonly TenantEntry[]; readonly next: string | undefined }> {
    const { tenants, next } = await this.#options.store.list(after, limit);
    return { tenants: tenants.map(parseTenant), next };
  }

  async get(name: string): Promise<TenantEntry | undefined> {
    const json = await this.#options.store.get(name);
    return json === undefined ? undefined : parseTenant(json);
  }

  /**
   * Undefined if a tenant has this name.
   * @throws {ConfigurationError}
   */
  async create(value: unknown): Promise<TenantEntry | undefined> {
    const { store, clients, clock } = this.#options;
    const given = objectOf(value);
    const created = readTenantEntry({ ...given, createdAt: new Date(clock.now()).toISOString() });
    if (!(await store.add(created.name, JSON.stringify(created)))) return undefined;
    if (created.state === 'suspended') await clients.suspend(created.name, created.reason);
    return created;
  }

  /**
   * Sets the given fields; null removes one. Undefined if there is no such tenant.
   * @throws {ConfigurationError}
   */
  async change(
    name: string,
    value: unknown,
  ): Promise<({ readonly tenant: TenantEntry } & Partial<R>) | undefined> {
    const { store, clients } = this.#options;
    const before = await store.get(nameOf(name));
    if (before === undefined) return undefined;
    const tenant = readTenantEntry(merged(parseTenant(before), objectOf(value)));
    // The clients come first: once the tenant is active, its clients can connect.
    if (tenant.state === 'active') await clients.resume(name);
    if (!(await store.replace(name, before, JSON.stringify(tenant))))
      throw new ConfigurationError(`The tenant "${name}" is being changed by somebody else: try again.`);
    const isSuspending = tenant.state === 'suspended' && 'state' in objectOf(value);
    return { tenant, ...(isSuspending ? await clients.suspend(name, tenant.reason) : ({} as Partial<R>)) };
  }

  /**
   * Removes a suspended tenant, and all that is stored for its clients, except the history of its streams, which
   * expires. Undefined if there is none.
   * @throws {ConfigurationError} if it is not suspended
   */
  async remove(name: string): Promise<R | undefined> {
    const { store, clients } = this.#options;
    const tenant = await this.get(nameOf(name));
    if (tenant === undefined) return undefined;
    if (tenant.state !== 'suspended')
      throw new ConfigurationError(`The tenant "${name}" is active: suspend it before you remove it.`);
    const cleared = await clients.clear(name);
    await store.remove(name);
    await clients.resume(name);
    return cleared;
  }
}

function merged(before: TenantEntry, change: Readonly<Record<string, unknown>>): object {
  const unknown = Object.keys(change).find((field) => !CHANGEABLE.some((each) => each === field));
  if (unknown !== undefined)
    throw new ConfigurationError(
      `"${unknown}" of a tenant cannot be changed; there are ${CHANGEABLE.join(', ')}.`,
    );
  const all = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(all);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ConfigurationError(
    'A tenant is a JSON object, as {"name": "acme", "plan": {"connectionsMax": 100}}.',
  );
}

function nameOf(name: string): string {
  if (isTenant(name) && name !== DEFAULT_TENANT) return name;
  throw new ConfigurationError(
    `"${name}" is no tenant of the register: up to 64 letters, digits, ".", "_" and "-", and not "${DEFAULT_TENANT}".`,
  );
}
