import { type PublicProfile, publicProfile, splitUrl } from '../../engine/public-profile.ts';
import { membersOf, text } from '../../engine/read-members.ts';
import { readProfile } from '../../engine/read-profile.ts';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { FileProblem } from './file-problem.ts';
import { CONNECTIONS_MAX } from './limits.ts';

export const CONNECTIONS_KIND = 'apus-connections';

/** A connection of a file, and the secrets that the file holds of it. */
export interface FiledConnection {
  readonly profile: ConnectionProfile;
  readonly secrets: Secrets;
}

interface ConnectionRecord extends PublicProfile {
  readonly secrets?: Secrets | undefined;
}

/**
 * @param secretsOf returns the secrets, if the user asked to export them. Without it the file contains none, not even
 * those in URLs and user properties.
 */
export function connectionsFile(
  profiles: readonly ConnectionProfile[],
  secretsOf: ((id: string) => Secrets) | undefined,
  exportedAt: Date = new Date(),
): string {
  const connections = profiles.map((profile) => recordOf(profile, secretsOf));
  const head = { format: CONNECTIONS_KIND, version: 1, exportedAt: exportedAt.toISOString() };
  return `${JSON.stringify({ ...head, connections }, undefined, 2)}\n`;
}

function recordOf(
  profile: ConnectionProfile,
  secretsOf: ((id: string) => Secrets) | undefined,
): ConnectionRecord {
  if (secretsOf === undefined) return publicProfile(profile);
  const { id, storeSecrets: _storeSecrets, ...whole } = profile;
  return { ...whole, secrets: secretsOf(id) };
}

/** @throws {FileProblem} if one of them is invalid, or there are too many */
export function readConnections(entries: readonly unknown[]): readonly FiledConnection[] {
  if (entries.length > CONNECTIONS_MAX)
    throw new FileProblem('tooManyConnections', { count: entries.length, max: CONNECTIONS_MAX });
  if (entries.length === 0) throw new FileProblem('empty');
  return entries.map((entry, index) => readConnection(entry, index));
}

function readConnection(entry: unknown, index: number): FiledConnection {
  const profile = readProfile(entry);
  if (profile === undefined) throw new FileProblem('connection', {}, { kind: 'entry', number: index + 1 });
  const given = membersOf(membersOf(entry)?.secrets) ?? {};
  const split = splitUrl(profile.url, profile.tokenParameter);
  const secrets: Secrets = {
    password: text(given.password) ?? split.secrets.password,
    token: text(given.token) ?? split.secrets.token,
    authenticationData: text(given.authenticationData),
  };
  return { profile: withNeeds({ ...profile, url: split.url }, secrets), secrets };
}

/** Secrets in the file are needed, even if the file says otherwise. */
export function withNeeds(profile: ConnectionProfile, { password, token }: Secrets): ConnectionProfile {
  const { needs } = profile;
  return {
    ...profile,
    needs: { password: needs.password || password !== undefined, token: needs.token || token !== undefined },
  };
}

export function hasSecrets({ secrets }: FiledConnection): boolean {
  return Object.values(secrets).some((value) => value !== undefined);
}
