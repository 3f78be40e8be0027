import {
  type Awaitable,
  type Clock,
  type Identity,
  type Log,
  type Refusal,
  reasonOf,
  steadyNow,
} from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { Fetch } from '../fetch-text.ts';
import type { KeyRing } from '../jwt/key-ring.ts';
import { FixedKeys } from '../jwt/key-ring.ts';
import { remoteKeySet } from '../jwt/key-set.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { keysOf, parseTenant, type TenantEntry } from './tenant-entry.ts';

/** Reads a tenant's entry, in JSON; undefined if the register has no such tenant. */
export type ReadTenant = (name: string) => Awaitable<string | undefined>;

/** How long an entry is used before it is read again: as long as the list of bans. */
export const TENANT_FRESH_MS = 30_000;

/** Remembered tenants, including names that do not exist: any token may name one. */
const REMEMBERED_MAX = 1_000;

export interface KnownTenantsOptions {
  readonly read: ReadTenant;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Fetches the keys of providers.
   * @default the platform's fetch
   */
  readonly fetch?: Fetch | undefined;
  /** @default 30,000 */
  readonly freshMs?: number;
}

/** A tenant of the register, and the keys of its tokens. */
export interface KnownTenant {
  readonly entry: TenantEntry;
  readonly keys: FixedKeys;
  /** Undefined: the tenant has no provider. */
  readonly providerKeys: KeyRing | undefined;
}

interface Remembered {
  readonly json: string | undefined;
  readonly tenant: KnownTenant | undefined;
  readonly readAtMs: number;
}

const UNAVAILABLE: Refusal = {
  refused: ReasonCode.ServerUnavailable,
  reason: 'The tenants cannot be read now; try again.',
};

/** The register of tenants, read by a process that authenticates. The default tenant is not in it. */
export class KnownTenants {
  readonly #options: KnownTenantsOptions;
  /** Oldest first. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(options: KnownTenantsOptions) {
    this.#options = options;
  }

  /** Rejects if it cannot be read. */
  async find(name: string): Promise<KnownTenant | undefined> {
    if (name === DEFAULT_TENANT) return undefined;
    const { clock, read, freshMs = TENANT_FRESH_MS } = this.#options;
    const nowMs = steadyNow(clock);
    const known = this.#remembered.get(name);
    if (known !== undefined && nowMs - known.readAtMs < freshMs) return known.tenant;
    const json = await read(name);
    // Returns the same object, so that fetched keys stay fetched.
    const tenant =
      known?.json === json ? known?.tenant : json === undefined ? undefined : this.#tenantOf(json);
    this.#remembered.delete(name);
    this.#remembered.set(name, { json, tenant, readAtMs: nowMs });
    for (const [oldest] of this.#remembered) {
      if (this.#remembered.size <= REMEMBERED_MAX) break;
      this.#remembered.delete(oldest);
    }
    return tenant;
  }

  /** The identity with the plan of its tenant [SEC-TENANT-8]. Synchronous for the default tenant, which has none. */
  planned(identity: Identity): Awaitable<Identity | Refusal> {
    return identity.tenant === DEFAULT_TENANT ? identity : this.#planned(identity);
  }

  async #planned(identity: Identity): Promise<Identity | Refusal> {
    try {
      const plan = (await this.find(identity.tenant))?.entry.plan;
      return plan === undefined ? identity : { ...identity, plan };
    } catch (error) {
      return this.unavailable(error);
    }
  }

  unavailable(error: unknown): Refusal {
    this.#options.log.error('tenants-unavailable', { error: reasonOf(error) });
    return UNAVAILABLE;
  }

  #tenantOf(json: string): KnownTenant {
    const { clock, log, fetch } = this.#options;
    const entry = parseTenant(json);
    const failed = (error: Error) =>
      log.warn('keys-unavailable', { source: `tenant ${entry.name}`, reason: reasonOf(error) });
    const { jwksUrl } = entry.provider ?? {};
    return {
      entry,
      keys: new FixedKeys(keysOf(entry)),
      providerKeys: jwksUrl === undefined ? undefined : remoteKeySet({ url: jwksUrl, clock, fetch, failed }),
    };
  }
}
