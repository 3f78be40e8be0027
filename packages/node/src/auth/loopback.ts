import type { IncomingMessage } from 'node:http';
import { isLoopbackHost, isLoopbackOrigin } from '@apus/cloud';

export { isLoopbackHost };

/**
 * Whether the other end of a socket is this machine. A socket that listens for both families sees `::ffff:127.0.0.1`.
 */
export function isLoopbackPeer(address: string | undefined): boolean {
  return address !== undefined && isLoopbackHost(address.replace(/^::ffff:/, ''));
}

/**
 * Whether the request comes from a program of this machine, or from a page that this machine served. A page from
 * elsewhere may send requests to this machine from a browser: its Origin tells, or its Host, if a foreign name leads
 * here (DNS rebinding) [SEC-ORIGIN-2].
 */
export function isFromThisMachine({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  const { origin, host = '' } = headers;
  if (!isLoopbackPeer(socket.remoteAddress) || !isLoopbackHost(host.replace(/:\d+$/, ''))) return false;
  return origin === undefined || isLoopbackOrigin(origin);
}
