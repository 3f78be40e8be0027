import { isIPv4 } from 'node:net';

/** In a list of origins: every page that this machine served, at any port. */
export const LOOPBACK_ORIGINS = 'loopback';

/** Web pages that may open a WebSocket, as `https://app.example`: scheme, host and port as a browser sends them. */
export type AllowedOrigins = 'any' | readonly string[];

/**
 * Whether a page of this origin may open a WebSocket [SEC-ORIGIN-1]. A browser lets every page open a WebSocket to
 * every address, and names the page's origin in `Origin`. Other programs send no `Origin`, and are allowed.
 */
export function isAllowedOrigin(origin: string | undefined, allowed: AllowedOrigins): boolean {
  if (origin === undefined || allowed === 'any' || allowed.includes(origin)) return true;
  return allowed.includes(LOOPBACK_ORIGINS) && isLoopbackOrigin(origin);
}

/** Whether the host is this machine. `localhost` counts as such (RFC 6761). */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/** Whether this machine served a web page of this origin. */
export function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}
