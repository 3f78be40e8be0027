import {
  type ForeignHash,
  hashPassword,
  isForeignDigest,
  parsePasswordHash,
  wrapForeignHash,
} from '@apus/identity';
import { CommandError } from '../commands/command.ts';
import type { Note } from './report.ts';
import { readSource, refuseMore } from './source.ts';

/** How EMQX hashes passwords; the files of its users do not say it. */
export type EmqxHash = (salt: string, keyBytes: number) => ForeignHash | undefined;

export interface EmqxUser {
  readonly name: string;
  readonly password: string;
  /** Asks no ACL. */
  readonly isSuperuser: boolean;
}

const FIELDS = ['user_id', 'password_hash', 'salt', 'is_superuser', 'password'];

/** Reads `sha256`, `sha256-prefix` or `pbkdf2-sha256:4096`; undefined for another text. */
export function emqxHashOf(text: string): EmqxHash | undefined {
  const [, hmac, count] = /^pbkdf2-(sha|sha256|sha512):([1-9]\d{0,6})$/.exec(text) ?? [];
  if (hmac !== undefined) {
    const digest = digestOf(hmac);
    if (digest === undefined) return undefined;
    return (salt, keyBytes) => ({ digest, iterations: Number(count), keyBytes, salt: Buffer.from(salt) });
  }
  const [, name = '', place] = /^(md5|sha|sha256|sha512)(?:-(prefix|suffix))?$/.exec(text) ?? [];
  const digest = digestOf(name);
  if (digest === undefined) return undefined;
  const saltAt = place === 'prefix' ? 'prefix' : 'suffix';
  return (salt) => ({ digest, saltAt, salt: Buffer.from(salt) });
}

function digestOf(name: string) {
  const digest = name === 'sha' ? 'sha1' : name;
  return isForeignDigest(digest) ? digest : undefined;
}

/** @throws {CommandError} with the line, or the place, of what is no user */
export async function readEmqxUsers(
  entries: readonly { readonly where: string; readonly fields: Readonly<Record<string, unknown>> }[],
  hash: EmqxHash,
  notes: Note[],
): Promise<readonly EmqxUser[]> {
  const users: EmqxUser[] = [];
  const names = new Set<string>();
  for (const { where, fields } of entries) {
    const name = fields.user_id;
    if (typeof name !== 'string' || name === '') throw new CommandError(`${where}: it has no user_id.`);
    if (names.has(name)) throw new CommandError(`${where}: there are two users ${JSON.stringify(name)}.`);
    names.add(name);
    const isSuperuser = `${fields.is_superuser ?? false}` === 'true';
    const password = await passwordOf(fields, hash);
    if (password !== undefined) users.push({ name, password, isSuperuser });
    else
      notes.push({
        where,
        why: `user ${JSON.stringify(name)} is left out: its hash is not of the kind that --hash names. \`apus user add\` adds it with a new password`,
      });
  }
  return users;
}

/** Undefined for a hash of another kind, as bcrypt's. */
async function passwordOf(
  { password, password_hash: hashed, salt }: Readonly<Record<string, unknown>>,
  hash: EmqxHash,
): Promise<string | undefined> {
  if (typeof password === 'string' && password !== '') return await hashPassword(Buffer.from(password));
  if (typeof hashed !== 'string' || !/^(?:[0-9a-f]{2}){16,64}$/i.test(hashed)) return undefined;
  const key = Buffer.from(hashed, 'hex');
  const foreign = hash(typeof salt === 'string' ? salt : '', key.length);
  if (foreign === undefined || ('saltAt' in foreign && key.length !== BYTES[foreign.digest]))
    return undefined;
  const text = await wrapForeignHash(key, foreign);
  return parsePasswordHash(text) === undefined ? undefined : text;
}

const BYTES = { md5: 16, sha1: 20, sha256: 32, sha512: 64 } as const;

/** The rows of a CSV file, each with its line. A value with a comma stands in quotes. */
export function readCsv(path: string) {
  const [header, ...rows] = readSource(path)
    .split(/\r?\n/)
    .map((line, index) => ({
      where: `${path}:${index + 1}`,
      values: valuesOf(line, `${path}:${index + 1}`),
    }));
  const names = header?.values ?? [];
  const unknown = names.find((name) => !FIELDS.includes(name));
  if (!names.includes('user_id') || unknown !== undefined)
    throw new CommandError(
      `${path}:1: the first line names fields, as user_id,password_hash,salt,is_superuser.`,
    );
  refuseMore(rows.length, path);
  return rows
    .filter(({ values }) => values.join('') !== '')
    .map(({ where, values }) => {
      if (values.length !== names.length)
        throw new CommandError(
          `${where}: it has ${values.length} values, and the first line ${names.length}.`,
        );
      return { where, fields: Object.fromEntries(names.map((name, index) => [name, values[index]])) };
    });
}

function valuesOf(line: string, where: string): readonly string[] {
  const values = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)];
  if (values.reduce((sum, [whole]) => sum + whole.length, 0) !== line.length)
    throw new CommandError(`${where}: a quote does not end, or stands inside a value.`);
  return values.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim());
}
