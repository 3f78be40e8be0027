import { isIPv4 } from 'node:net';

/** Stands in a list of origins for every page that this machine served, at any port. */
export const LOOPBACK_ORIGINS = 'loopback';

/** Web pages that may open a WebSocket, as `https://app.example`: scheme, host and port as a browser sends them. */
export type AllowedOrigins = 'any' | readonly string[];

/**
 * Whether a WebSocket's handshake may come from a page of this origin [SEC-ORIGIN-1]. A browser lets every page open a WebSocket to
 * every address, and says in `Origin` whose page it is; other programs send none, and are not asked for one.
 */
export function isAllowedOrigin(origin: string | undefined, allowed: AllowedOrigins): boolean {
  if (origin === undefined || allowed === 'any' || allowed.includes(origin)) return true;
  return allowed.includes(LOOPBACK_ORIGINS) && isLoopbackOrigin(origin);
}

/** Whether only this machine can reach the host, or is it. `localhost` is taken at its word (RFC 6761). */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/** Whether a web page of this origin was served by this machine. */
export function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}
