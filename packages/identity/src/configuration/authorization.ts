import { type Authorizer, rulesAuthorizer } from '@apus/broker';
import { AUTHORIZATION_PLACEHOLDERS, HookAuthorizer, type OwnRules } from '../hook/hook-authorizer.ts';
import { Fields } from './fields.ts';
import {
  createHookClient,
  HOOK_REQUEST_FIELDS,
  type HookRequestConfiguration,
  readHookRequest,
} from './hook-request.ts';
import type { HookContext } from './kind.ts';

/** Decides if a client's own rules do not. */
export interface AuthorizationConfiguration {
  readonly hook: HookRequestConfiguration;
  /** How long an answer is valid; undefined: the default. */
  readonly cacheMs: number | undefined;
}

const NAME = 'authorization';

/** With a longer time a right that was revoked would still be in force. */
const CACHE_SECONDS_MAX = 3_600;

/** `{"hook": {"url": "…"}}`. @throws {ConfigurationError} */
export function readAuthorization(value: unknown, where: string): AuthorizationConfiguration | undefined {
  if (value === undefined) return undefined;
  const hook = new Fields(value, where, ['hook']).raw('hook');
  const fields = new Fields(hook, `${where}.hook`, [...HOOK_REQUEST_FIELDS, 'cacheSeconds']);
  return { hook: readHookRequest(fields, AUTHORIZATION_PLACEHOLDERS), cacheMs: cacheOf(fields) };
}

/**
 * @param ownRules finds the rules of an identity: a `Chain` knows those that its users file keeps
 * @throws {ConfigurationError} where this process cannot ask
 */
export function createAuthorizer(
  configuration: AuthorizationConfiguration | undefined,
  context: HookContext,
  ownRules: OwnRules & Authorizer = rulesAuthorizer,
): Authorizer {
  if (configuration === undefined) return ownRules;
  const { hook, cacheMs } = configuration;
  return new HookAuthorizer({
    client: createHookClient(hook, context, NAME),
    request: hook.template,
    ownRules,
    clock: context.clock,
    ...(cacheMs !== undefined && { cacheMs }),
  });
}

function cacheOf(fields: Fields): number | undefined {
  const seconds = fields.raw('cacheSeconds');
  if (seconds === undefined) return undefined;
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= CACHE_SECONDS_MAX) return seconds * 1_000;
  return fields.fail('cacheSeconds', `has to be a number from 0 to ${CACHE_SECONDS_MAX}.`);
}
