import type { UserEntry } from '@apus/identity';
import { CommandError } from '../commands/command.ts';
import { addAcl, type EmqxAclRule, readEmqxAcl } from './emqx-acl.ts';
import { emqxRules } from './emqx-rules.ts';
import { type EmqxHash, type EmqxUser, readCsv, readEmqxUsers } from './emqx-users.ts';
import { Permissions } from './permissions.ts';
import type { Imported, Note } from './report.ts';
import { readSource, refuseMore } from './source.ts';

export interface EmqxOptions {
  readonly hash: EmqxHash;
  /** EMQX's `no_match`: what a user may do that no rule is about. */
  readonly allowsUnmatched: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
type Entries = readonly { readonly where: string; readonly fields: Fields }[];

/**
 * Reads files by what they are: users in CSV or JSON, `acl.conf`, rules in JSON.
 *
 * @throws {CommandError} for a file that cannot be read or understood
 */
export async function importEmqx(paths: readonly string[], options: EmqxOptions): Promise<Imported> {
  const notes: Note[] = [];
  const users: Entries[] = [];
  const rules: object[] = [];
  let acl: readonly EmqxAclRule[] | undefined;
  for (const path of paths) {
    if (path.endsWith('.csv')) users.push(readCsv(path));
    else if (path.endsWith('.conf')) {
      if (acl !== undefined)
        throw new CommandError(`${path}: one acl.conf is read, and this is a second one.`);
      acl = readEmqxAcl(path, notes);
    } else {
      const entries = entriesOf(path);
      if (entries.some(({ fields }) => 'sql' in fields))
        rules.push(
          ...emqxRules(
            entries.map(({ fields }) => fields),
            path,
            notes,
          ),
        );
      else users.push(entries);
    }
  }
  await checkRules(rules);
  if (acl !== undefined && users.length === 0)
    throw new CommandError(
      'The rules of acl.conf become permissions of users: give the file of the users, too.',
    );
  const listed = await readEmqxUsers(users.flat(), options.hash, notes);
  if (users.length > 0 && acl === undefined)
    notes.push({ where: 'acl.conf', why: 'none is given: users may do what --no-match says' });
  const entries = listed.flatMap((user) => userOf(user, acl ?? [], options, notes));
  return {
    ...(users.length > 0 && { users: entries }),
    ...(rules.length > 0 && { rules }),
    flags: [
      ...(users.length > 0 ? ['--users', 'users.json'] : []),
      ...(rules.length > 0 ? ['--rules', 'rules.json'] : []),
    ],
    notes,
  };
}

/** The list of a file: alone, or in `data` as the HTTP API of EMQX answers it. */
function entriesOf(path: string): Entries {
  let value: unknown;
  try {
    value = JSON.parse(readSource(path));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `${path} is no JSON, CSV (.csv) or acl.conf (.conf): ${(error as Error).message}.`,
    );
  }
  const list = Array.isArray(value) ? value : ((value as Fields | null)?.data ?? [value]);
  if (!Array.isArray(list)) throw new CommandError(`${path} has to hold a list.`);
  refuseMore(list.length, path);
  return list.map((fields: unknown, index) => {
    const where = `${path}: [${index}]`;
    if (typeof fields !== 'object' || fields === null)
      throw new CommandError(`${where} has to be an object.`);
    return { where, fields: fields as Fields };
  });
}

/** The broker's own reader says whether it takes them. */
async function checkRules(rules: readonly object[]): Promise<void> {
  if (rules.length === 0) return;
  const { readRules } = await import('@apus/bridges');
  readRules({ rules }, { where: 'rules.json', directory: '.', environment: {}, nowMs: Date.now() });
}

function userOf(
  { name, password, isSuperuser }: EmqxUser,
  acl: readonly EmqxAclRule[],
  { allowsUnmatched }: EmqxOptions,
  notes: Note[],
): readonly UserEntry[] {
  const permissions = new Permissions();
  if (!isSuperuser) addAcl(permissions, acl, name);
  if (isSuperuser || allowsUnmatched)
    for (const filter of ['#', '$SYS/#']) permissions.add('allow', 'all', filter);
  const entry = permissions.entry();
  if (typeof entry !== 'string') return [{ name, password, ...entry }];
  notes.push({ where: `user ${JSON.stringify(name)}`, why: `it is left out: ${entry}` });
  return [];
}
