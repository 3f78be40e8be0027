import type { ConnectionProfile } from '../engine/types.ts';
import { database } from './database.ts';
import { type Endpoint, endpointProfile, endpointProfileId, loadSite } from './endpoints.ts';
import { connectProfile, keepMessages, profileOf } from './profiles.ts';
import { leftOpen, rememberOpen } from './reopening.ts';
import { followAddress } from './routes.ts';
import { isMissingSecrets, loadSecrets } from './secrets.ts';
import { tryStorage } from './storage.ts';
import { useStore } from './store.ts';
import { readStored, writeStored } from './stored.ts';

/** The `localStorage` key of the connection shown last. */
const ACTIVE_KEY = 'apus.active';

/** Reads what the browser remembers, finds the broker that served the page, and connects to it. */
export async function boot(): Promise<void> {
  const page = new URL(location.href);
  const wereOpen = leftOpen();
  const [site, stored] = await Promise.all([loadSite(page), loadStored()]);
  const served = site.endpoints.map((endpoint, index) => servedProfile(endpoint, index, stored));
  const servedIds = new Set(served.map(({ id }) => id));
  const own = stored.filter(({ id }) => !servedIds.has(id));
  const profiles = [...served, ...own];
  const last = readStored(ACTIVE_KEY);
  const active = profiles.find(({ id }) => id === last) ?? profiles[0];
  useStore.setState({ isReady: true, site, profiles, activeId: active?.id });
  useStore.subscribe(({ activeId }, before) => {
    if (activeId !== undefined && activeId !== before.activeId) writeStored(ACTIVE_KEY, activeId);
  });
  // Stored messages are in a log before new ones come.
  const kept = new Map(profiles.map((profile) => [profile.id, keepMessages(profile)]));
  const connect = async (id: string): Promise<void> => {
    await kept.get(id);
    connectProfile(id);
  };
  followAddress();
  const servedId = active !== undefined && servedIds.has(active.id) ? active.id : undefined;
  if (servedId !== undefined) void connect(servedId);
  for (const id of wereOpen) if (id !== servedId && canOpen(id)) void connect(id);
  rememberOpen();
}
/** A connection that needs unknown secrets waits until the user opens it. */
function canOpen(id: string): boolean {
  const profile = profileOf(id);
  return profile !== undefined && !isMissingSecrets(profile);
}

async function loadStored(): Promise<readonly ConnectionProfile[]> {
  const stored = await tryStorage(async () => {
    await loadSecrets();
    return await (await database()).getAllFromIndex('profiles', 'position');
  });
  return (stored ?? []).map(({ profile }) => profile);
}

/** The user's changes stay; the address comes from the broker. */
function servedProfile(
  endpoint: Endpoint,
  index: number,
  stored: readonly ConnectionProfile[],
): ConnectionProfile {
  const id = endpointProfileId(endpoint.door, index);
  const known = stored.find((profile) => profile.id === id);
  if (known !== undefined) return { ...known, url: endpoint.url, door: endpoint.door };
  const name = endpoint.name ?? `This broker${endpoint.door === 'gateway' ? ', gateway door' : ''}`;
  return endpointProfile(endpoint, id, name);
}
