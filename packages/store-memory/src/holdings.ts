import { type Identity, quotaHolderKey, quotaHolderOf } from '@apus/broker';

/** A holder, as `quotaHolderOf` needs it. */
type Holder = Pick<Identity, 'tenant' | 'name' | 'address' | 'quotas'>;

/** The kinds of thing that are counted for a holder. */
export type HeldKind = 'connections' | 'sessions' | 'subscriptions';

const TENANT_KEY = 'tenant\0';

/** Called in the turn in which a count changes. `key`: `quotaHolderKey` or `tenantHoldingKey`. */
export type HoldingWatch = (key: string, kind: HeldKind) => void;

interface Register {
  changed(holding: Holding, kind: HeldKind): void;
  emptied(holding: Holding): void;
}

/** The key of everything that a tenant holds. No key of a holder is like it. */
export function tenantHoldingKey(tenant: string): string {
  return TENANT_KEY + tenant;
}

/** Counts for the sessions of one identity, or of one tenant; subscriptions by their weight. */
export class Holding {
  readonly key: string;
  /** As its latest client has shown it. */
  identity: Holder;
  readonly #tenant: Holding | undefined;
  readonly #register: Register;
  #connections = 0;
  #sessions = 0;
  #subscriptions = 0;
  #queuedBytes = 0;

  /** @param tenant changes together with it */
  constructor(key: string, identity: Holder, tenant: Holding | undefined, register: Register) {
    this.key = key;
    this.identity = identity;
    this.#tenant = tenant;
    this.#register = register;
  }

  get connections(): number {
    return this.#connections;
  }

  get sessions(): number {
    return this.#sessions;
  }

  get subscriptions(): number {
    return this.#subscriptions;
  }

  /** Memory of its queues. The budget counts a tenant's memory itself, as its identities share messages. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  changeQueued(bytes: number): void {
    this.#queuedBytes += bytes;
    this.#forgetIfEmpty();
  }

  change(kind: HeldKind, by: number): void {
    if (kind === 'connections') this.#connections += by;
    else if (kind === 'sessions') this.#sessions += by;
    else this.#subscriptions += by;
    this.#tenant?.change(kind, by);
    this.#forgetIfEmpty();
    this.#register.changed(this, kind);
  }

  /** A session that has ended holds its subscriptions and its queue until they are cleared. */
  #forgetIfEmpty(): void {
    if (this.#sessions === 0 && this.#subscriptions === 0 && this.#queuedBytes === 0)
      this.#register.emptied(this);
  }
}

/** The holdings of all holders (`quotaHolderOf`) and tenants. A holder of nothing is forgotten. */
export class Holdings {
  /** For processes that count together. @default nothing is called */
  watch: HoldingWatch | undefined;
  readonly #holders = new Map<string, Holding>();
  readonly #tenants = new Map<string, Holding>();
  readonly #ofHolders: Register = {
    changed: ({ key }, kind) => this.watch?.(key, kind),
    emptied: ({ key }) => this.#holders.delete(key),
  };

  /** The holding of a session that is about to be counted. */
  of(identity: Holder, clientId: string): Holding {
    const key = keyOf(identity, clientId);
    const known = this.#holders.get(key);
    if (known !== undefined) {
      known.identity = identity;
      return known;
    }
    const holding = new Holding(key, identity, this.#tenantOf(identity.tenant), this.#ofHolders);
    this.#holders.set(key, holding);
    return holding;
  }

  /** Undefined: the holder holds nothing. */
  find(identity: Holder, clientId: string): Holding | undefined {
    return this.#holders.get(keyOf(identity, clientId));
  }

  findTenant(tenant: string): Holding | undefined {
    return this.#tenants.get(tenant);
  }

  /** Finds the holding of a holder or of a tenant. */
  findKey(key: string): Holding | undefined {
    return key.startsWith(TENANT_KEY)
      ? this.#tenants.get(key.slice(TENANT_KEY.length))
      : this.#holders.get(key);
  }

  /** Tenants that hold something. */
  tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** The counts of all tenants together. */
  get total(): { readonly connections: number; readonly sessions: number } {
    let [connections, sessions] = [0, 0];
    for (const tenant of this.#tenants.values()) {
      connections += tenant.connections;
      sessions += tenant.sessions;
    }
    return { connections, sessions };
  }

  #tenantOf(tenant: string): Holding {
    let holding = this.#tenants.get(tenant);
    if (holding === undefined) {
      holding = new Holding(tenantHoldingKey(tenant), { tenant, name: '' }, undefined, {
        changed: ({ key }, kind) => this.watch?.(key, kind),
        emptied: () => this.#tenants.delete(tenant),
      });
      this.#tenants.set(tenant, holding);
    }
    return holding;
  }
}

function keyOf(identity: Holder, clientId: string): string {
  return quotaHolderKey(quotaHolderOf(identity, clientId));
}
