import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isFromThisMachine } from '../auth/loopback.ts';
import { type ApiAnswer, refusal } from './answer.ts';

/** Access to the API. `local`: programs and pages of this machine. `key`: callers with the key. `closed`: no access. */
export type ApiAccess =
  | { readonly mode: 'local' }
  | { readonly mode: 'key'; readonly key: string }
  | { readonly mode: 'closed' };

/** Characters of a key: 16 random bytes in base64, or more. */
export const API_KEY_LENGTH_MIN = 22;

/**
 * Without a key the API is as open as the broker: it answers programs and pages of this machine while the broker is
 * open to this machine only. Otherwise it is closed.
 */
export function apiAccess(key: string | undefined, isOpenToThisMachineOnly: boolean): ApiAccess {
  if (key !== undefined) return { mode: 'key', key };
  return { mode: isOpenToThisMachineOnly ? 'local' : 'closed' };
}

const NOT_LOCAL = refusal(
  403,
  'NOT_LOCAL',
  'Without a key the API answers programs and pages of this machine alone.',
);

/** The answer that refuses the request; undefined if it is allowed. */
export function refusalOf(request: IncomingMessage, access: ApiAccess): ApiAnswer | undefined {
  switch (access.mode) {
    case 'closed':
      return refusal(403, 'API_CLOSED', 'The API wants a key: start the broker with --api-key-file FILE.');
    case 'key':
      return refusalOfKey(request.headers.authorization, access.key);
    case 'local':
      return isFromThisMachine(request) ? undefined : NOT_LOCAL;
  }
}

function refusalOfKey(authorization: string | undefined, key: string): ApiAnswer | undefined {
  const given = keyOf(authorization ?? '');
  if (given !== undefined && isSame(given, key)) return undefined;
  return refusal(401, 'BAD_API_KEY_OR_SECRET', 'Send the key: Authorization: Bearer KEY');
}

/** The key of `Bearer KEY`, or the password of `Basic` with any user name, as EMQX's clients send a key's secret. */
function keyOf(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  if (/^bearer$/i.test(scheme)) return value;
  if (!/^basic$/i.test(scheme)) return undefined;
  const decoded = Buffer.from(value, 'base64').toString();
  return decoded.slice(decoded.indexOf(':') + 1);
}

/** Takes the same time for every wrong key. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
