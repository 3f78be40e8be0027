import { type Broker, type Clock, type Log, suspensionOf, TENANT_REMOVED } from '@apus/broker';
import type { BanKeeper } from '@apus/door';
import {
  ConfigurationError,
  KnownTenants,
  parseTenant,
  type TenantClients,
  type TenantEntry,
  TenantRegister,
  type TenantStore,
} from '@apus/identity';
import type { LocalStores } from './stores.ts';

/** How many clients were ended. */
export interface TenantEnded {
  readonly expelled: number;
}

export interface TenantKeeperOptions {
  readonly store: TenantStore;
  readonly stores: Pick<LocalStores, 'sessions' | 'retained'>;
  readonly bans: BanKeeper;
  readonly broker: Broker;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Tells the other processes that share the store that a tenant is being removed. Resolves when they have ended its
   * sessions.
   *
   * @default there are none
   */
  readonly tellClear?: ((tenant: string) => Promise<void>) | undefined;
}

const PAGE = { messages: 1_000, bytes: Number.POSITIVE_INFINITY } as const;

/** The register for authentication at this node: the store is in this process, so nothing is cached. */
export function knownTenants(store: TenantStore, clock: Clock, log: Log): KnownTenants {
  return new KnownTenants({ read: (name) => store.get(name), clock, log, freshMs: 0 });
}

/** The tenants of a node: stored, and in force at both doors [SEC-TENANT-6]. */
export class TenantKeeper {
  readonly register: TenantRegister<TenantEnded>;
  readonly #options: TenantKeeperOptions;

  constructor(options: TenantKeeperOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.register = new TenantRegister({ store, clients: this.#clients(), clock });
  }

  /** At the start: suspends the suspended tenants of the store, which the store of bans does not have. */
  async suspendAll(): Promise<void> {
    for (const tenant of await this.all())
      if (tenant.state === 'suspended') await this.#suspend(tenant.name, tenant.reason);
  }

  /** Another process has changed the tenant. If it is suspended, resolves when its clients have been ended. */
  async changed(name: string, json: string | undefined): Promise<void> {
    const entry = json === undefined ? undefined : parseTenant(json);
    if (entry?.state === 'suspended') await this.#suspend(name, entry.reason);
    else this.#options.bans.resume(suspensionOf(name, 0));
  }

  /** Ends the sessions of a tenant at this process, and returns how many there were. */
  async endSessions(tenant: string): Promise<number> {
    const { stores, broker } = this.#options;
    const records = [...stores.sessions.all()].filter(({ session }) => session.tenant === tenant);
    for (const { session } of records) await broker.expel(tenant, session.clientId, TENANT_REMOVED);
    return records.length;
  }

  async all(): Promise<readonly TenantEntry[]> {
    const all: TenantEntry[] = [];
    let after: string | undefined;
    do {
      const page = await this.register.list(after);
      all.push(...page.tenants);
      after = page.next;
    } while (after !== undefined);
    return all;
  }

  #clients(): TenantClients<TenantEnded> {
    return {
      suspend: (tenant, reason) => this.#suspend(tenant, reason),
      resume: async (tenant) => this.#options.bans.resume(suspensionOf(tenant, 0)),
      clear: (tenant) => this.#clear(tenant),
    };
  }

  async #suspend(tenant: string, reason: string | undefined): Promise<TenantEnded> {
    const { bans, clock } = this.#options;
    const expelled = await bans.suspend(suspensionOf(tenant, clock.now(), reason));
    if (expelled === undefined) throw new ConfigurationError('The list of bans is full: take some back.');
    return { expelled };
  }

  async #clear(tenant: string): Promise<TenantEnded> {
    const { stores, broker, bans, clock, tellClear } = this.#options;
    const [expelled] = await Promise.all([this.endSessions(tenant), tellClear?.(tenant)]);
    let from: string | undefined;
    do {
      const page = await stores.retained.match(tenant, '#', clock.now(), from, PAGE);
      for (const { topic } of page.messages)
        await stores.retained.delete(tenant, topic, broker.messageClock.next());
      from = page.next;
    } while (from !== undefined);
    for (const ban of bans.all()) if (ban.tenant === tenant && ban.as !== 'tenant') await bans.unban(ban);
    return { expelled };
  }
}
