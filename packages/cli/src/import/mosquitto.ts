import type { UserEntry } from '@apus/identity';
import { type AclLine, type MosquittoAcl, readMosquittoAcl } from './mosquitto-acl.ts';
import { readMosquittoConfig } from './mosquitto-config.ts';
import { mosquittoPasswords } from './mosquitto-passwords.ts';
import { Permissions } from './permissions.ts';
import type { Imported, Note } from './report.ts';

/** Without an ACL file every client may do everything, and read the figures of the broker. */
const EVERYTHING: MosquittoAcl = {
  users: new Map(),
  patterns: ['#', '$SYS/#'].map((filter) => ({ effect: 'allow', action: 'all', filter })),
};

/** Files that are elsewhere on this machine than `mosquitto.conf` says. */
export interface Elsewhere {
  readonly passwordFile?: string | undefined;
  readonly aclFile?: string | undefined;
}

/** @throws {CommandError} for a file that cannot be read, or a line that Mosquitto would refuse */
export async function importMosquitto(path: string, elsewhere: Elsewhere): Promise<Imported> {
  const notes: Note[] = [];
  const config = readMosquittoConfig(path, notes);
  const passwordFile = elsewhere.passwordFile ?? config.passwordFile;
  const aclFile = elsewhere.aclFile ?? config.aclFile;
  const acl = aclFile === undefined ? EVERYTHING : readMosquittoAcl(aclFile, notes);
  if (passwordFile === undefined)
    return {
      flags: [...config.flags, ...anonymousFlags(config.allowsAnonymous, aclFile, path, notes)],
      notes,
    };
  if (config.allowsAnonymous)
    notes.push({
      where: path,
      why: 'allow_anonymous is left out: a broker with users refuses clients without a name',
    });
  const hashes = await mosquittoPasswords(passwordFile, notes);
  const users = [...hashes].flatMap(([name, password]) => userOf(name, password, acl, notes));
  for (const name of acl.users.keys()) {
    if (!hashes.has(name))
      notes.push({
        where: `user ${JSON.stringify(name)}`,
        why: 'it has lines in the ACL file and no password that is carried',
      });
  }
  return { users, flags: ['--users', 'users.json', ...config.flags], notes };
}

function userOf(
  name: string,
  password: string,
  { users, patterns }: MosquittoAcl,
  notes: Note[],
): readonly UserEntry[] {
  const where = `user ${JSON.stringify(name)}`;
  const permissions = new Permissions();
  const lines: readonly AclLine[] = [...(users.get(name) ?? []), ...patterns];
  for (const { effect, action, filter } of lines) permissions.add(effect, action, filter);
  const entry = permissions.entry();
  if (typeof entry !== 'string') return [{ name, password, ...entry }];
  notes.push({ where, why: `it is left out: ${entry}` });
  return [];
}

function anonymousFlags(
  isAllowed: boolean,
  aclFile: string | undefined,
  path: string,
  notes: Note[],
): readonly string[] {
  if (!isAllowed) return [];
  if (aclFile === undefined) return ['--allow-anonymous'];
  notes.push({
    where: path,
    why: 'allow_anonymous is left out: here a client without a name may do everything, and there an ACL file limits it',
  });
  return [];
}
