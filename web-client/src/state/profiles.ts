import { newId } from '../engine/new-profile.ts';
import type { ConnectionProfile, Secrets, Subscription } from '../engine/types.ts';
import { connections } from './connections.ts';
import { database } from './database.ts';
import { isRecording } from './recording-ids.ts';
import { forgetSecrets, isMissingSecrets, keepSecrets, secretsOf } from './secrets.ts';
import { tryStorage } from './storage.ts';
import { knownPacketBytesMax, useStore } from './store.ts';

/** The actions on connections, for all parts of the page. */

export function profileOf(id: string): ConnectionProfile | undefined {
  return useStore.getState().profiles.find((profile) => profile.id === id);
}

/** Saves a profile, new or changed. It does not touch the connection. */
export async function saveProfile(profile: ConnectionProfile): Promise<void> {
  const { profiles } = useStore.getState();
  const index = profiles.findIndex(({ id }) => id === profile.id);
  const position = index === -1 ? profiles.length : index;
  useStore.setState({ profiles: profiles.with(index === -1 ? profiles.length : index, profile) });
  if (isRecording(profile.id)) return;
  void keepMessages(profile);
  await tryStorage(async () => (await database()).put('profiles', { id: profile.id, position, profile }));
}

/**
 * Sets whether the messages of its connection stay across a reload.
 *
 * @returns resolves when the stored ones are in its log
 */
export function keepMessages({ id, keepsMessages = true }: ConnectionProfile): Promise<void> {
  return connections.get(id).keep(keepsMessages);
}

/** Deletes the stored messages. */
export function forgetKeptMessages(id: string): void {
  connections.get(id).forgetKept();
}

export async function addProfile(profile: ConnectionProfile): Promise<void> {
  await addProfiles([profile]);
}

/** All of them at once: one by one, a thousand would be rendered a thousand times. The last one is shown. */
export async function addProfiles(added: readonly ConnectionProfile[]): Promise<void> {
  const { profiles, activeId } = useStore.getState();
  useStore.setState({ profiles: [...profiles, ...added], activeId: added.at(-1)?.id ?? activeId });
  for (const profile of added) void keepMessages(profile);
  const stored = added.map((profile, index) => ({
    id: profile.id,
    position: profiles.length + index,
    profile,
  }));
  await tryStorage(async () => {
    const { store, done } = (await database()).transaction('profiles', 'readwrite');
    await Promise.all([...stored.map((profile) => store.put(profile)), done]);
  });
}

/** A copy under a new name, with the secrets that the page knows. */
export async function duplicateProfile(id: string, name: string): Promise<void> {
  const profile = profileOf(id);
  if (profile === undefined) return;
  const copy: ConnectionProfile = {
    ...profile,
    id: newId(),
    name,
    subscriptions: profile.subscriptions.map((subscription) => ({ ...subscription, id: newId() })),
  };
  await addProfile(copy);
  await keepSecrets(copy, secretsOf(id));
}

export async function deleteProfile(id: string): Promise<void> {
  connections.remove(id);
  const profiles = useStore.getState().profiles.filter((profile) => profile.id !== id);
  useStore.setState(({ activeId, statuses: { [id]: _gone, ...statuses } }) => ({
    profiles,
    statuses,
    activeId: activeId === id ? profiles[0]?.id : activeId,
  }));
  await tryStorage(async () => (await database()).delete('profiles', id));
  await forgetSecrets(id);
}

/** Opens the connection's configuration. */
export function editProfile(id: string): void {
  useStore.setState({ question: { type: 'connection', id } });
}

/** Connects, or asks for the missing secrets first. */
export function connectProfile(id: string): void {
  const profile = profileOf(id);
  if (profile === undefined || isRecording(id)) return;
  if (isMissingSecrets(profile)) useStore.setState({ question: { type: 'secrets', id } });
  else connections.get(id).open(profile, secretsOf(id), knownPacketBytesMax(profile.url));
}

/** Another token for an open connection, which goes on. */
export async function renewToken(id: string, token: string): Promise<void> {
  const profile = profileOf(id);
  if (profile === undefined) return;
  connections.get(id).renew(token);
  await keepSecrets(profile, { ...secretsOf(id), token });
}

export function disconnectProfile(id: string, withWill = false): void {
  connections.get(id).close(withWill);
}

export async function connectWithSecrets(profile: ConnectionProfile, secrets: Secrets): Promise<void> {
  await saveProfile(profile);
  await keepSecrets(profile, secrets);
  connectProfile(profile.id);
}

/** Replaces a profile's subscriptions, here and, when it is connected, at the server. */
export async function setSubscriptions(id: string, subscriptions: readonly Subscription[]): Promise<void> {
  const profile = profileOf(id);
  if (profile === undefined) return;
  connections.get(id).setSubscriptions(subscriptions);
  await saveProfile({ ...profile, subscriptions });
}
