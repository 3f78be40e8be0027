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

/** The reason why no page has the origin, in a sentence; undefined where one may have it. */
export function originProblem(text: string): string | undefined {
  if (text === 'null') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && url.origin === text) return undefined;
  if (isWeb) return `a browser sends this origin as ${url.origin}, not ${JSON.stringify(text)}`;
  // Apps name their pages by schemes of their own, as capacitor://localhost.
  const isOfApp = url !== undefined && !/^(?:wss?|ftp|file):$/.test(url.protocol) && url.origin === 'null';
  if (isOfApp && url.host !== '' && text === `${url.protocol}//${url.host}`) return undefined;
  return `an origin is https://app.example, with a scheme and no path, not ${JSON.stringify(text)}`;
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
