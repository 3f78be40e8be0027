import type { Awaitable, Clock, Identity, Log } from '@apus/broker';
import { isTenant } from '../tenant.ts';
import { type HttpAnswer, type HttpRequest, problem } from './http.ts';
import { findKey, type PublishKey, shownKey } from './keys.ts';
import { RETRY_AFTER_SECONDS } from './limits.ts';

/** Names the tenant, where the caller may speak for several. */
export const TENANT_HEADER = 'apus-tenant';

/** Says who calls, or what to answer. */
export type Authenticate = (request: HttpRequest) => Awaitable<Identity | HttpAnswer>;

/** What asks for credentials; browsers of developers offer a form for Basic. */
const CHALLENGE = { 'www-authenticate': 'Basic realm="apus", charset="UTF-8", Bearer realm="apus"' };

export function unauthorized(message: string): HttpAnswer {
  return problem('BAD_API_KEY_OR_SECRET', message, CHALLENGE);
}

/** The identity of whoever may publish to these filters; it has the tenant that the request names, if it may choose. */
export function callerOf(
  request: HttpRequest,
  name: string,
  publish: readonly string[],
  tenants: { readonly own: string | undefined; readonly preset: string },
): Identity | HttpAnswer {
  const wanted = request.headers[TENANT_HEADER];
  if (wanted !== undefined && !isTenant(wanted)) {
    return problem('BAD_REQUEST', `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  }
  const tenant = tenants.own ?? wanted ?? tenants.preset;
  if (wanted !== undefined && wanted !== tenant)
    return problem('FORBIDDEN', `This key is for the tenant "${tenant}" and no other.`);
  return { tenant, name, claims: { publish, subscribe: [] } };
}

/** Who shows a key that has no name. Not the name that is shown with it: what it causes is charged to the key. */
const NAMELESS_KEY = 'backend';

/** Callers that show a key. `presetTenant` is meant where neither the key nor the request names one. */
export function byKeys(keys: KeySource, presetTenant: string, log: Log): Authenticate {
  return async (request) => {
    const shown = shownKey(request.headers.authorization);
    if (shown === undefined) {
      return unauthorized('A key is asked for: Authorization: Bearer KEY, or Basic with NAME:KEY.');
    }
    let key: PublishKey | undefined;
    try {
      key = await keys.find((each) => findKey(each, shown));
    } catch (error) {
      log.error('publish-keys-unavailable', {
        error: error instanceof Error ? error.message : String(error),
      });
      const retryAfter = { 'retry-after': String(RETRY_AFTER_SECONDS) };
      return problem('SERVICE_UNAVAILABLE', 'The keys cannot be read now; try again later.', retryAfter);
    }
    if (key === undefined) return unauthorized('The key is not known here.');
    const tenants = { own: key.tenant, preset: presetTenant };
    return callerOf(request, key.name ?? NAMELESS_KEY, key.publish, tenants);
  };
}

/** Callers that the platform has verified, and let through: they may publish everywhere. */
export function byPlatform(presetTenant: string): Authenticate {
  return (request) =>
    request.caller === undefined
      ? problem('FORBIDDEN', 'The request has to be signed with credentials of AWS.')
      : callerOf(request, request.caller, ['#'], { own: undefined, preset: presetTenant });
}

/** Where keys are. */
export interface KeySource {
  /** What `look` finds among them. Rejects when they cannot be read, or are not keys. */
  find(look: (keys: readonly PublishKey[]) => PublishKey | undefined): Promise<PublishKey | undefined>;
}

/** A key that was taken out of the secret is refused after this. */
const FRESH_MS = 5 * 60_000;
/** A key that is not known is looked for in the secret again, and not more often than so. */
const UNKNOWN_AGAIN_MS = 10_000;

/** Keys that are kept elsewhere and may change there. */
export class CachedKeys implements KeySource {
  readonly #read: () => Promise<readonly PublishKey[]>;
  readonly #clock: Clock;
  #keys: readonly PublishKey[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(read: () => Promise<readonly PublishKey[]>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  async find(look: (keys: readonly PublishKey[]) => PublishKey | undefined): Promise<PublishKey | undefined> {
    await this.#refresh(FRESH_MS);
    const found = look(this.#keys);
    if (found !== undefined || !(await this.#refresh(UNKNOWN_AGAIN_MS))) return found;
    return look(this.#keys);
  }

  async #refresh(ageMsMax: number): Promise<boolean> {
    const nowMs = this.#clock.now();
    if (nowMs - this.#readAtMs < ageMsMax) return false;
    this.#keys = await this.#read();
    this.#readAtMs = nowMs;
    return true;
  }
}
