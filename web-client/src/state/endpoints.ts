import { newProfile, newSubscription } from '../engine/new-profile.ts';
import { integer, type Members, membersOf, oneOf, text } from '../engine/read-members.ts';
import type { ConnectionProfile, Door } from '../engine/types.ts';

/** The addresses of the page's own broker, from `config.json` beside the page. */
export interface Endpoint {
  readonly url: string;
  readonly door: Door;
  readonly name: string | undefined;
  /** The largest packet that it takes. Only in MQTT 5 does CONNACK contain it. */
  readonly maximumPacketSizeBytes: number | undefined;
}

/** The API of the page's own broker: its address, and whether it needs a key. */
export interface SiteApi {
  readonly url: string;
  readonly access: 'local' | 'key' | 'closed';
  /** A deployment's API, which is only called when the user wants it: each answer is billed. */
  readonly isDeployment: boolean;
  /** It keeps a register of tenants. */
  readonly hasTenants: boolean;
}

/** The content of `config.json`: the broker that the page belongs to. */
export interface Site {
  readonly endpoints: readonly Endpoint[];
  readonly api: SiteApi | undefined;
  /** Where the operator of a gateway door looks: its dashboard in CloudWatch. */
  readonly dashboardUrl: string | undefined;
  /** The page for developers is served beside this one. */
  readonly hasPortal: boolean;
}

export const NO_SITE: Site = { endpoints: [], api: undefined, dashboardUrl: undefined, hasPortal: false };

/**
 * Reads `config.json`. The node answers it with paths at its own host; a page on static files has one beside it:
 * `{ "endpoints": [{ "door": "gateway", "url": "wss://…", "name": "…" }], "dashboardUrl": "https://…" }`.
 */
export async function loadSite(page: URL): Promise<Site> {
  try {
    const response = await fetch(new URL('config.json', page), { cache: 'no-store' });
    return response.ok ? siteFrom(await response.json(), page) : NO_SITE;
  } catch {
    // There is no such file, or no JSON: then the user has to enter an address.
    return NO_SITE;
  }
}

/** @param read what `config.json` holds */
export function siteFrom(read: unknown, page: URL): Site {
  const { endpoints, api, dashboardUrl, portal } = membersOf(read) ?? {};
  return {
    endpoints: Array.isArray(endpoints) ? endpoints.flatMap((entry) => endpointFrom(entry, page)) : [],
    api: apiFrom(membersOf(api), page),
    dashboardUrl: webAddress(dashboardUrl),
    hasPortal: portal === true,
  };
}

function apiFrom(read: Members | undefined, page: URL): SiteApi | undefined {
  const deployed = apiOfDeployment(text(read?.url));
  if (deployed !== undefined) return deployed;
  const path = text(read?.path);
  const access = oneOf(read?.access, ['local', 'key', 'closed'] as const);
  // Never at another host: the page sends the API's key there.
  return path === undefined || !path.startsWith('/') || path.startsWith('//') || access === undefined
    ? undefined
    : { url: new URL(path, page).href, access, isDeployment: false, hasTenants: read?.tenants === true };
}

/**
 * The URL of a deployment's API (`HttpApiUrl`). Only the file beside the page may name it, and without TLS only at this
 * machine, since the page sends the operator's key there.
 */
function apiOfDeployment(url: string | undefined): SiteApi | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && hostname === '127.0.0.1')) return undefined;
  return { url: new URL('/api/v5', url).href, access: 'key', isDeployment: true, hasTenants: true };
}

/** An address that a link may lead to. */
function webAddress(value: unknown): string | undefined {
  const url = text(value);
  return url !== undefined && /^https:\/\//.test(url) && URL.canParse(url) ? url : undefined;
}

function endpointFrom(entry: unknown, page: URL): readonly Endpoint[] {
  const read = membersOf(entry) ?? {};
  const { door, url, port, path } = read;
  if (door !== 'node' && door !== 'gateway') return [];
  const rest = {
    door,
    name: text(read.name),
    maximumPacketSizeBytes: integer(read.maximumPacketSizeBytes, 1, 0xffff_ffff),
  } as const;
  if (typeof url === 'string') return [{ url, ...rest }];
  if (typeof path !== 'string') return [];
  const own = new URL(path, page);
  own.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
  own.hash = '';
  own.search = '';
  if (typeof port === 'number') own.port = String(port);
  return [{ url: own.href, ...rest }];
}

/** The filter that covers the topics of the code samples on the first page. */
const FIRST_FILTER = 'hello/#';

const SERVED_PREFIX = 'served-';

/** The profile of an endpoint has a fixed identifier, so that it is found again. */
export function endpointProfileId(door: Door, index: number): string {
  return `${SERVED_PREFIX}${door}-${index}`;
}

/** Whether the profile belongs to the page's own broker. */
export function isServed(id: string): boolean {
  return id.startsWith(SERVED_PREFIX);
}

export function endpointProfile({ url, door }: Endpoint, id: string, name: string): ConnectionProfile {
  return { ...newProfile(url, name), id, door, subscriptions: [newSubscription(FIRST_FILTER)] };
}
