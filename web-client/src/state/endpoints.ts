import { newProfile, newSubscription } from '../engine/new-profile.ts';
import type { ConnectionProfile, Door } from '../engine/types.ts';

/** Where the page's own broker can be reached, as `config.json` beside the page says. */
export interface Endpoint {
  readonly url: string;
  readonly door: Door;
  readonly name: string | undefined;
}

/**
 * Reads `config.json`. The node answers it with paths at its own host; a page on static files has one beside it:
 * `{ "endpoints": [{ "door": "gateway", "url": "wss://…", "name": "…" }] }`.
 */
export async function loadEndpoints(page: URL): Promise<readonly Endpoint[]> {
  try {
    const response = await fetch(new URL('config.json', page), { cache: 'no-store' });
    if (!response.ok) return [];
    const { endpoints } = (await response.json()) as { readonly endpoints?: unknown };
    return Array.isArray(endpoints) ? endpoints.flatMap((entry) => endpointFrom(entry, page)) : [];
  } catch {
    // No such file, or not JSON: the page stands alone, and its user says where to connect.
    return [];
  }
}

function endpointFrom(entry: unknown, page: URL): readonly Endpoint[] {
  const read = (typeof entry === 'object' && entry !== null ? entry : {}) as Readonly<
    Record<string, unknown>
  >;
  const { door, url, port, path, name } = read;
  if (door !== 'node' && door !== 'gateway') return [];
  const shownName = typeof name === 'string' ? name : undefined;
  if (typeof url === 'string') return [{ url, door, name: shownName }];
  if (typeof path !== 'string') return [];
  const own = new URL(path, page);
  own.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
  own.hash = '';
  own.search = '';
  if (typeof port === 'number') own.port = String(port);
  return [{ url: own.href, door, name: shownName }];
}

/** What the lines of code on the first page publish to. */
const FIRST_FILTER = 'hello/#';

const SERVED_PREFIX = 'served-';

/** The profile of an endpoint has a fixed identifier, so that it is found again. */
export function endpointProfileId(door: Door, index: number): string {
  return `${SERVED_PREFIX}${door}-${index}`;
}

/** Whether the profile is that of the broker which belongs to this page. */
export function isServed(id: string): boolean {
  return id.startsWith(SERVED_PREFIX);
}

export function endpointProfile({ url, door }: Endpoint, id: string, name: string): ConnectionProfile {
  return { ...newProfile(url, name), id, door, subscriptions: [newSubscription(FIRST_FILTER)] };
}
