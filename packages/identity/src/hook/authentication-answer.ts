import { type Identity, parseQuotas, type Quotas, type Refusal, type Rule } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { readRules } from '../rules/read-rules.ts';
import { isTenant } from '../tenant.ts';
import { objectOf } from './answer-body.ts';
import type { HookAnswer } from './hook-client.ts';

/** Defaults for fields that the answer leaves out. */
export interface HookIdentityDefaults {
  readonly tenant: string;
  /** @default none: the client may neither publish nor subscribe, unless an authorizer allows it */
  readonly rules?: readonly Rule[];
  /** Patterns of client identifiers, as in `Identity.clientIds`. */
  readonly clientIds?: readonly string[];
  readonly quotas?: Partial<Quotas>;
  /** The authenticator that asked. */
  readonly source?: string;
}

/** The answer is invalid; the sentence is for the operator's log. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

const DENIED: Refusal = { refused: ReasonCode.NotAuthorized, reason: 'You may not connect to this broker' };

/** A superuser's rules: topics that begin with `$` are covered by no wildcard in front [MQTT-4.7.2-1]. */
const EVERYTHING: readonly Rule[] = [
  { effect: 'allow', action: 'all', topicFilters: ['#', '$SYS/#', '$presence/#', '$occupancy/#'] },
];

/**
 * The answer of a hook about a client, as EMQX documents it: with 200 `result` decides, 204 allows, and every other
 * status leaves the client to the next authenticator (undefined).
 *
 * @throws {AnswerError} for an answer that allows, and whose terms cannot be kept
 */
export function readAuthentication(
  answer: HookAnswer,
  username: string | undefined,
  defaults: HookIdentityDefaults,
  nowMs: number,
): Identity | Refusal | undefined {
  const body = answer.status === 204 ? { result: 'allow' } : objectOf(answer);
  if (body?.result === 'deny') return DENIED;
  if (body?.result !== 'allow') return undefined;
  const { tenant, clientIds, source } = defaults;
  const expiresAtMs = expiryOf(body.expire_at, nowMs);
  const quotas = quotasOf(body.quotas) ?? defaults.quotas;
  return {
    tenant: tenantOf(body.client_attrs) ?? tenant,
    name: username ?? '',
    rules: isSuperuser(body.is_superuser) ? EVERYTHING : (rulesOf(body.acl) ?? defaults.rules ?? []),
    ...(clientIds !== undefined && { clientIds }),
    ...(quotas !== undefined && { quotas }),
    ...(source !== undefined && { source }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

/** The values that EMQX takes for true: some databases have no booleans. */
function isSuperuser(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}

function rulesOf(acl: unknown): readonly Rule[] | undefined {
  if (acl === undefined) return undefined;
  const rules = readRules({ acl });
  if (typeof rules === 'string') throw new AnswerError(rules);
  return rules;
}

/** An addition: EMQX has no such field. */
function quotasOf(given: unknown): Partial<Quotas> | undefined {
  if (given === undefined) return undefined;
  const quotas = parseQuotas(given);
  if (typeof quotas === 'string') throw new AnswerError(`quotas: ${quotas}`);
  return quotas;
}

/** EMQX has no tenants; an existing server can name one in its client attributes. */
function tenantOf(attributes: unknown): string | undefined {
  const { tenant } = (attributes ?? {}) as { readonly tenant?: unknown };
  if (tenant === undefined || isTenant(tenant)) return tenant;
  throw new AnswerError(
    'client_attrs.tenant has to be a name of up to 64 letters, digits, ".", "_" and "-".',
  );
}

function expiryOf(expireAt: unknown, nowMs: number): number | undefined {
  if (expireAt === undefined) return undefined;
  if (!Number.isInteger(expireAt)) throw new AnswerError('expire_at has to be a whole number of seconds.');
  const seconds = expireAt as number;
  // EMQX distinguishes milliseconds in this way: no clock is at the year 28,000.
  if (seconds > nowMs / 2) throw new AnswerError('expire_at has to be in seconds since the epoch.');
  if (seconds * 1000 <= nowMs) throw new AnswerError('expire_at is in the past.');
  return seconds * 1000;
}
