import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type HttpAnswer,
  type HttpRequest,
  problem,
  RequestLimiter,
  TENANT_HEADER,
  tooManyRequests,
  unauthorized,
} from '@apus/door';
import { DEFAULT_TENANT, isTenant } from '@apus/identity';

/** SHA-256 of a key, in hex. A key is 16 random bytes or more, so that its hash tells nothing of it. */
export const KEY_SHA256 = /^[0-9a-f]{64}$/;

/** Keys that are known at a time: one that is used, and those that are being replaced. */
export const API_KEYS_MAX = 10;

/**
 * The rates of requests that one environment takes from one operator, from all operators, and from one address that
 * shows no valid key.
 */
const RATES = {
  caller: { perSecond: 10, burst: 40 },
  environment: { perSecond: 20, burst: 80 },
  unauthorized: { perSecond: 1, burst: 30 },
} as const;

export interface OperatorAccess {
  /** Undefined: requests carry a signature, which Lambda has verified. */
  readonly keysSha256: readonly string[] | undefined;
}

/** Authenticates operators, limits their requests, and finds the tenant of each request [SEC-API-1]. */
export class OperatorGate {
  readonly #limiter: RequestLimiter;
  readonly #hashes: readonly Buffer[] | undefined;

  constructor(clock: { readonly now: () => number }, { keysSha256 }: OperatorAccess) {
    this.#limiter = new RequestLimiter(clock, RATES);
    this.#hashes = keysSha256?.map((hash) => Buffer.from(hash, 'hex'));
  }

  /** The tenant of the request, or the answer that refuses it. */
  admit(request: HttpRequest): string | HttpAnswer {
    const caller = this.#callerOf(request);
    if (typeof caller !== 'string') return caller;
    const waitSeconds = this.#limiter.take(caller);
    if (waitSeconds > 0) return tooManyRequests(waitSeconds);
    return tenantOf(request);
  }

  #callerOf({ headers, caller, address = '' }: HttpRequest): string | HttpAnswer {
    if (this.#hashes === undefined)
      return caller ?? problem('FORBIDDEN', 'The request has to be signed with credentials of AWS.');
    const hash = hashOf(headers.authorization ?? '');
    const found = hash && this.#hashes.findIndex((each) => timingSafeEqual(each, hash));
    if (found !== undefined && found >= 0) return `key ${found}`;
    const waitSeconds = this.#limiter.floodSeconds(address);
    if (waitSeconds > 0) return tooManyRequests(waitSeconds);
    this.#limiter.unauthorized(address);
    return unauthorized('Send the key: Authorization: Bearer KEY');
  }
}

/** The tenant that a request names, or the answer that refuses it. */
export function tenantOf({ headers }: HttpRequest): string | HttpAnswer {
  const tenant = headers[TENANT_HEADER] ?? DEFAULT_TENANT;
  if (isTenant(tenant)) return tenant;
  return problem('BAD_REQUEST', `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
}

/** Hashes the key of `Bearer KEY`, or the password of `Basic` with any user name. */
function hashOf(authorization: string): Buffer | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  if (/^bearer$/i.test(scheme)) return sha256(value);
  if (!/^basic$/i.test(scheme)) return undefined;
  const decoded = Buffer.from(value, 'base64').toString();
  return sha256(decoded.slice(decoded.indexOf(':') + 1));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
