import { type Identity, parseQuotas, type Quotas, type Rule } from '@apus/broker';
import { readClientIds } from '../read-client-ids.ts';
import { readRules } from '../rules/read-rules.ts';
import { isTenant } from '../tenant.ts';

/** Characters of a name: OpenID Connect has subjects of up to 255. */
const NAME_LENGTH_MAX = 256;

/** Characters of an identifier of a token. */
const ID_LENGTH_MAX = 256;

/** The rules of a token without filters. */
export interface DefaultRules {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

const NOTHING: DefaultRules = { publish: [], subscribe: [] };

/** The claims that Apus reads besides `exp`: all of them are signed. */
export interface TokenClaims {
  /** Name of the identity: `%u` in filters. */
  readonly sub?: string;
  readonly tenant?: string;
  /** The first rule that applies decides. These come before the lists below. */
  readonly rules?: readonly Rule[];
  /** EMQX's rules, in both of its forms. They come between `rules` and the lists below. */
  readonly acl?: unknown;
  /** Topic filters; absent: the deployment's default, which is nothing unless it says otherwise. */
  readonly publish?: readonly string[];
  readonly subscribe?: readonly string[];
  /** Patterns of the client identifiers that it may be used with; see `Identity.clientIds`. */
  readonly clientIds?: readonly string[];
  /** Quotas that differ from those of every identity of the broker, such as `{"connectionsMax": 1}`. */
  readonly quotas?: Partial<Quotas>;
  /** The identifier of this token. */
  readonly jti?: string;
}

export interface IdentityDefaults {
  /** The tenant of a token without one. */
  readonly tenant: string;
  readonly rules?: DefaultRules | undefined;
  /** The claim that names the identity. @default 'sub' */
  readonly nameClaim?: string | undefined;
  /**
   * The claim that names the tenant.
   * @default none: all tokens belong to the tenant above
   */
  readonly tenantClaim?: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/** The identity of verified claims, or the error in them. */
export function identityOf(claims: Claims, defaults: IdentityDefaults): Identity | string {
  const { nameClaim = 'sub', tenantClaim, rules = NOTHING } = defaults;
  const granted = rulesOf(claims, rules);
  if (typeof granted === 'string') return granted;
  const name = claims[nameClaim];
  if (typeof name !== 'string' || name === '' || name.length > NAME_LENGTH_MAX) {
    return `it has to name its subject ("${nameClaim}") in 1 to ${NAME_LENGTH_MAX} characters.`;
  }
  const tenant = (tenantClaim === undefined ? undefined : claims[tenantClaim]) ?? defaults.tenant;
  if (!isTenant(tenant)) {
    return `"${tenantClaim}" must be a name of up to 64 letters, digits, ".", "_" and "-".`;
  }
  const details = detailsOf(claims);
  return typeof details === 'string' ? details : { tenant, name, rules: granted, ...details };
}

/** RFC 7519 has times in seconds. */
function detailsOf({ clientIds: given, quotas: named, exp, iat, jti }: Claims): Partial<Identity> | string {
  const quotas = named === undefined ? undefined : parseQuotas(named);
  if (typeof quotas === 'string') return `quotas: ${quotas}`;
  const clientIds = given === undefined ? undefined : readClientIds(given, 'clientIds');
  if (typeof clientIds === 'string') return clientIds;
  if (jti !== undefined && !(typeof jti === 'string' && jti.length <= ID_LENGTH_MAX)) {
    return `"jti" must be a text of at most ${ID_LENGTH_MAX} characters.`;
  }
  return {
    ...(clientIds !== undefined && { clientIds }),
    ...(quotas !== undefined && { quotas }),
    ...(typeof exp === 'number' && { expiresAtMs: exp * 1000 }),
    ...(typeof iat === 'number' && { issuedAtMs: iat * 1000 }),
    ...(jti !== undefined && { tokenId: jti }),
  };
}

/** A token with rules of its own gets none of the default. */
function rulesOf(
  { rules, acl, publish, subscribe }: Claims,
  fallback: DefaultRules,
): readonly Rule[] | string {
  if (rules !== undefined || acl !== undefined) return readRules({ rules, acl, publish, subscribe });
  return readRules({
    publish: publish === undefined ? fallback.publish : publish,
    subscribe: subscribe === undefined ? fallback.subscribe : subscribe,
  });
}
