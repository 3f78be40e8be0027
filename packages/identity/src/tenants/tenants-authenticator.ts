import type { Clock } from '@apus/broker';
import type { Answer, ChainAuthenticator, NotMine, Shown } from '../answer.ts';
import type { DefaultRules } from '../jwt/claims.ts';
import { JwtAuthenticator } from '../jwt/jwt-authenticator.ts';
import type { KeyRing } from '../jwt/key-ring.ts';
import { readToken, type UnverifiedToken } from '../jwt/token.ts';
import { isTenant } from '../tenant.ts';
import type { KnownTenant, KnownTenants } from './known-tenants.ts';

export interface TenantsAuthenticatorOptions {
  readonly source: string;
  readonly tenants: KnownTenants;
  readonly clock: Clock;
  /** Default rules for tenants that have none. */
  readonly defaultRules?: DefaultRules | undefined;
  readonly nameClaim?: string | undefined;
  /** @default 'tenant' */
  readonly tenantClaim?: string | undefined;
}

/**
 * Tokens that tenants sign with keys of their own. The claim `tenant`, which any client can write, selects the keys.
 * One of these keys has to have signed the token, and its identity belongs to this tenant, whatever else it claims
 * [SEC-TENANT-7]. A token that names none of the tenant's keys goes to the next authenticator: the owner of the broker
 * may sign for every tenant.
 */
export class TenantsAuthenticator implements ChainAuthenticator {
  readonly source: string;
  readonly #options: TenantsAuthenticatorOptions;

  constructor(options: TenantsAuthenticatorOptions) {
    this.source = options.source;
    this.#options = options;
  }

  async authenticate({ token, password }: Shown): Promise<Answer> {
    const text = token ?? (password === undefined ? undefined : Buffer.from(password).toString('latin1'));
    const unverified = text === undefined ? undefined : readToken(text);
    if (text === undefined || unverified === undefined) return { notMine: 'it is no JSON Web Token' };
    const { tenants, tenantClaim = 'tenant' } = this.#options;
    const name = unverified.claims[tenantClaim];
    if (!isTenant(name)) return { notMine: `it names no tenant ("${tenantClaim}")` };
    let tenant: KnownTenant | undefined;
    try {
      tenant = await tenants.find(name);
    } catch (error) {
      return tenants.unavailable(error);
    }
    const found = tenant && keysFor(tenant, unverified);
    if (tenant === undefined || found === undefined) return NONE_OF_ITS_KEYS;
    return await this.#authenticatorOf(tenant, found).verify(text);
  }

  #authenticatorOf({ entry }: KnownTenant, { keys, isProviders }: TenantKeys): JwtAuthenticator {
    const { source, clock, nameClaim, defaultRules } = this.#options;
    const { issuer, audience } = (isProviders && entry.provider) || {};
    return new JwtAuthenticator({
      source,
      keys,
      clock,
      issuer,
      audiences: typeof audience === 'string' ? [audience] : audience,
      tenant: entry.name,
      rules: entry.defaultRules ?? defaultRules,
      nameClaim,
    });
  }
}

const NONE_OF_ITS_KEYS: NotMine = { notMine: 'it names no key of a tenant ("kid")' };

interface TenantKeys {
  readonly keys: KeyRing;
  readonly isProviders: boolean;
}

/** The tenant's own key that the token names, or the provider's keys if the provider has issued the token. */
function keysFor(
  { entry, keys, providerKeys }: KnownTenant,
  { kid, issuer }: UnverifiedToken,
): TenantKeys | undefined {
  if (kid !== undefined && keys.keys().some((key) => key.kid === kid)) return { keys, isProviders: false };
  if (providerKeys === undefined || issuer !== entry.provider?.issuer) return undefined;
  return { keys: providerKeys, isProviders: true };
}
