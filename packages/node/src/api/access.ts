import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Log } from '@apus/broker';
import { type ApiAnswer, refusal } from '@apus/door';
import type { PeerAddresses } from '../peer-address.ts';

/** Access to the API. `local`: programs and pages of this machine. `key`: callers with the key. `closed`: no access. */
export type ApiAccess =
  | { readonly mode: 'local'; readonly addresses: PeerAddresses }
  | {
      readonly mode: 'key';
      readonly key: string;
      /** Of callers that look, and change nothing [SEC-WAY-5]. */
      readonly viewerKey: string | undefined;
    }
  | { readonly mode: 'closed' };

/** Characters of a key: 16 random bytes in base64, or more. */
export const API_KEY_LENGTH_MIN = 22;

/**
 * Without a key the API is as open as the broker: it answers programs and pages of this machine while the broker is
 * open to this machine only. Otherwise it is closed.
 */
export function apiAccess(
  key: string | undefined,
  isOpenToThisMachineOnly: boolean,
  addresses: PeerAddresses,
  viewerKey?: string,
): ApiAccess {
  if (key !== undefined) return { mode: 'key', key, viewerKey };
  return isOpenToThisMachineOnly ? { mode: 'local', addresses } : { mode: 'closed' };
}

/** A line of the log has 100 characters of it. */
const NOT_LOCAL =
  'Without --api-key-file FILE the API is for this machine, and no proxy that --trusted-proxy omits.';

/** The answer that refuses the request; undefined if it is allowed. */
export function refusalOf(request: IncomingMessage, access: ApiAccess, log: Log): ApiAnswer | undefined {
  switch (access.mode) {
    case 'closed':
      return refusal('API_CLOSED', 'The API wants a key: start the broker with --api-key-file FILE.');
    case 'key':
      return refusalOfKey(request, access);
    case 'local':
      if (access.addresses.isLocalPage(request)) return undefined;
      log.info('api-refused', { address: access.addresses.of(request).address, reason: NOT_LOCAL });
      return refusal('NOT_LOCAL', NOT_LOCAL);
  }
}

function refusalOfKey(
  { headers, method }: IncomingMessage,
  { key, viewerKey = key }: Extract<ApiAccess, { readonly mode: 'key' }>,
): ApiAnswer | undefined {
  const given = keyOf(headers.authorization ?? '') ?? '';
  const isViewer = isSame(given, viewerKey);
  if (isSame(given, key) || (isViewer && method === 'GET')) return undefined;
  if (isViewer) return refusal('FORBIDDEN', 'This key may look at everything, and change nothing.');
  return refusal('BAD_API_KEY_OR_SECRET', 'Send the key: Authorization: Bearer KEY');
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
