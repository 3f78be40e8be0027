import { type Awaitable, type Identity, type Log, reasonOf, rulesOfLists } from '@apus/broker';
import { type ApiKey, type ApiKeySource, findApiKey, isTenant, nameOfKey, shownKey } from '@apus/identity';
import { type HttpAnswer, type HttpRequest, problem, tooManyRequests } from '../http.ts';
import type { RequestLimiter } from '../request-limiter.ts';
import { RETRY_AFTER_SECONDS } from './limits.ts';

/** Names the tenant, where the caller may speak for several. */
export const TENANT_HEADER = 'apus-tenant';

/** Returns the identity of the caller, or the answer that refuses the request. */
export type Authenticate = (request: HttpRequest) => Awaitable<Identity | HttpAnswer>;

/** The header that asks for credentials. A browser offers a form for Basic. */
const CHALLENGE = { 'www-authenticate': 'Basic realm="apus", charset="UTF-8", Bearer realm="apus"' };

export function unauthorized(message: string): HttpAnswer {
  return problem('BAD_API_KEY_OR_SECRET', message, CHALLENGE);
}

/**
 * A key of a caller, for counting. Keys of two tenants may have one name [SEC-TENANT-8]. A signer of requests is one
 * caller, whichever tenant it names.
 */
export function keyOfCaller({ tenant, name, tokenId }: Identity): string {
  return tokenId === undefined ? name : `${tenant}\0${name}`;
}

interface CallerFilters {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * The identity of a caller with these filters.
 *
 * @param tenants the caller may name; the first if the request names none [SEC-TENANT-1]
 */
export function callerOf(
  request: HttpRequest,
  name: string,
  { publish, subscribe }: CallerFilters,
  tenants: readonly [string, ...string[]],
): Identity | HttpAnswer {
  const tenant = request.headers[TENANT_HEADER] ?? tenants[0];
  if (!isTenant(tenant)) {
    return problem('BAD_REQUEST', `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  }
  if (!tenants.includes(tenant)) {
    return problem('FORBIDDEN', `${name} may not speak for the tenant "${tenant}".`);
  }
  return { tenant, name, rules: rulesOfLists(publish, subscribe) };
}

/**
 * Callers that show a key.
 *
 * From an address that floods the endpoint only keys are accepted that are known already: no secret is read for it,
 * and other backends behind the same address are let in. [SEC-COST-2]
 */
export function byKeys(
  keys: ApiKeySource,
  log: Log,
  floods: Pick<RequestLimiter, 'floodSeconds'>,
): Authenticate {
  return async (request) => {
    const waitSeconds = floods.floodSeconds(request.address ?? '');
    const refusal = (message: string) =>
      waitSeconds > 0 ? tooManyRequests(waitSeconds) : unauthorized(message);
    const shown = shownKey(request.headers.authorization);
    if (shown === undefined) {
      return refusal('A key is asked for: Authorization: Bearer KEY, or Basic with NAME:KEY.');
    }
    let key: ApiKey | undefined;
    try {
      const look = (each: readonly ApiKey[]) => findApiKey(each, shown);
      key = waitSeconds > 0 ? await keys.findKnown(look) : await keys.find(look);
    } catch (error) {
      log.error('publish-keys-unavailable', { error: reasonOf(error) });
      const retryAfter = { 'retry-after': String(RETRY_AFTER_SECONDS) };
      return problem('SERVICE_UNAVAILABLE', 'The keys cannot be read now; try again later.', retryAfter);
    }
    if (key === undefined) return refusal('The key is not known here.');
    const caller = callerOf(request, nameOfKey(key), key, [key.tenant]);
    // A ban may name the key, as it does for a connection.
    if ('status' in caller) return caller;
    return { ...caller, tokenId: nameOfKey(key), ...(key.quotas !== undefined && { quotas: key.quotas }) };
  };
}

/**
 * Callers whose signature the platform has checked. They may publish everywhere in these tenants, and read nothing:
 * the right to invoke the URL has never meant more than publishing. For signed requests the operator's function lists
 * streams and rooms.
 */
export function byPlatform(tenants: readonly [string, ...string[]]): Authenticate {
  return (request) =>
    request.caller === undefined
      ? problem('FORBIDDEN', 'The request has to be signed with credentials of AWS.')
      : callerOf(request, request.caller, { publish: ['#'], subscribe: [] }, tenants);
}
