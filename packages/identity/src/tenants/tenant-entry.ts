import { parseQuotas, type TenantPlan } from '@apus/broker';
import { readDefaultRules } from '../configuration/default-rules.ts';
import { Fields } from '../configuration/fields.ts';
import { checkKeySetUrl } from '../configuration/key-set-url.ts';
import { publicKeyIn } from '../configuration/public-key.ts';
import { ConfigurationError } from '../configuration-error.ts';
import type { DefaultRules } from '../jwt/claims.ts';
import type { VerificationKey } from '../jwt/verification-key.ts';
import { DEFAULT_TENANT, isTenant } from '../tenant.ts';

export const TENANT_STATES = ['active', 'suspended'] as const;

export type TenantState = (typeof TENANT_STATES)[number];

/** Keys of one tenant at a time: the one that signs, and those that have signed tokens still in use. */
export const TENANT_KEYS_MAX = 10;

/** Characters of an entry: it is read with the first CONNECT of a tenant in half a minute. */
const ENTRY_LENGTH_MAX = 16 * 1_024;

const REASON_LENGTH_MAX = 200;

/** A tenant's own identity provider. Its tokens have to name the tenant in a claim. */
export interface TenantProvider {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string | readonly string[];
}

/** A tenant as the register stores it and the API shows it. It survives JSON. */
export interface TenantEntry {
  /** Up to 64 letters, digits, ".", "_" and "-". */
  readonly name: string;
  /** Clients of a suspended tenant are refused. */
  readonly state: TenantState;
  /** For people: the reason of a suspension. Clients do not see it. */
  readonly reason?: string;
  /** Quotas that differ from those of every tenant; 0 means no limit. */
  readonly plan?: TenantPlan;
  /**
   * Public keys, each with a `kid`: JSON Web Keys, or `{"kid", "pem"}`. The tokens that they sign belong to this
   * tenant.
   */
  readonly keys?: readonly Readonly<Record<string, unknown>>[];
  readonly provider?: TenantProvider;
  /** The default rules of its tokens. */
  readonly defaultRules?: DefaultRules;
  /** RFC 3339. */
  readonly createdAt: string;
}

const FIELDS = ['name', 'state', 'reason', 'plan', 'keys', 'provider', 'defaultRules', 'createdAt'] as const;

/** Fields that a change may set; null removes one. */
export const CHANGEABLE = ['state', 'reason', 'plan', 'keys', 'provider', 'defaultRules'] as const;

/** @throws {ConfigurationError} in a sentence for the operator */
export function readTenantEntry(value: unknown): TenantEntry {
  const fields = new Fields(value, 'tenant', FIELDS);
  const name = fields.raw('name');
  if (!isTenant(name)) fields.fail('name', 'has to have up to 64 letters, digits, ".", "_" and "-".');
  if (name === DEFAULT_TENANT)
    fields.fail(
      'name',
      `is "${DEFAULT_TENANT}": that tenant is there by itself, with the quotas of the broker.`,
    );
  const state = fields.oneOf('state', TENANT_STATES) ?? 'active';
  const reason = fields.text('reason');
  if (reason !== undefined && reason.length > REASON_LENGTH_MAX)
    fields.fail('reason', `has at most ${REASON_LENGTH_MAX} characters.`);
  const plan = fields.raw('plan') === undefined ? undefined : parseQuotas(fields.raw('plan'));
  if (typeof plan === 'string') fields.fail('plan', `cannot be kept: ${plan}`);
  keysOf(value as Pick<TenantEntry, 'keys'>);
  readProvider(fields.raw('provider'));
  readDefaultRules(fields, 'defaultRules');
  fields.requiredText('createdAt', 'when the tenant was made');
  if (JSON.stringify(value).length > ENTRY_LENGTH_MAX)
    throw new ConfigurationError(`A tenant has at most ${ENTRY_LENGTH_MAX} characters of JSON.`);
  return { ...(value as TenantEntry), state };
}

/** @throws {ConfigurationError} */
export function parseTenant(json: string): TenantEntry {
  return readTenantEntry(JSON.parse(json));
}

/**
 * The keys that verify its tokens.
 * @throws {ConfigurationError}
 */
export function keysOf({ keys }: Pick<TenantEntry, 'keys'>): readonly VerificationKey[] {
  if (keys === undefined) return [];
  if (!Array.isArray(keys) || keys.length > TENANT_KEYS_MAX)
    throw new ConfigurationError(`tenant.keys has to be a list of at most ${TENANT_KEYS_MAX} public keys.`);
  const read = keys.map((entry, index) => publicKeyIn(entry, `tenant.keys[${index}]`));
  const kids = read.map(({ kid }) => kid);
  const nameless = kids.findIndex((kid) => kid === undefined || kid === '');
  if (nameless >= 0)
    throw new ConfigurationError(`tenant.keys[${nameless}] has no "kid", by which a token names it.`);
  if (new Set(kids).size < kids.length)
    throw new ConfigurationError('Two keys of a tenant have the same "kid".');
  return read;
}

/** @throws {ConfigurationError} */
export function readProvider(value: unknown): TenantProvider | undefined {
  if (value === undefined) return undefined;
  const fields = new Fields(value, 'tenant.provider', ['jwksUrl', 'issuer', 'audience']);
  const jwksUrl = fields.requiredText('jwksUrl', 'where its keys are.');
  const issuer = fields.requiredText('issuer', 'whose tokens are taken.');
  const audience = fields.texts('audience');
  if (audience === undefined)
    return fields.fail('audience', 'is missing: a provider signs for all its customers.');
  return { jwksUrl: checkKeySetUrl(fields, 'jwksUrl', jwksUrl), issuer, audience };
}
