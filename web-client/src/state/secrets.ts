import type { ConnectionProfile, Secrets } from '../engine/types.ts';
import { database } from './database.ts';
import { tryStorage } from './storage.ts';

/** Secrets are in memory as long as the page is open. Only those are stored for which the user asked. */
const remembered = new Map<string, Secrets>();

export function secretsOf(id: string): Secrets {
  return remembered.get(id) ?? {};
}

/** The secrets that the profile needs and the page does not know. */
export function isMissingSecrets({ id, needs }: ConnectionProfile): boolean {
  const { password, token } = secretsOf(id);
  return (needs.password && password === undefined) || (needs.token && token === undefined);
}

export async function keepSecrets({ id, storeSecrets }: ConnectionProfile, secrets: Secrets): Promise<void> {
  remembered.set(id, secrets);
  await tryStorage<unknown>(async () => {
    const stored = await database();
    return await (storeSecrets ? stored.put('secrets', { id, secrets }) : stored.delete('secrets', id));
  });
}

export async function forgetSecrets(id: string): Promise<void> {
  remembered.delete(id);
  await tryStorage(async () => (await database()).delete('secrets', id));
}

export async function loadSecrets(): Promise<void> {
  for (const { id, secrets } of await (await database()).getAll('secrets')) remembered.set(id, secrets);
}
