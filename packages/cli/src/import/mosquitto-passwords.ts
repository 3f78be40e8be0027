import { type ForeignHash, parsePasswordHash, wrapForeignHash } from '@apus/identity';
import { CommandError } from '../commands/command.ts';
import type { Note } from './report.ts';
import { linesOf, readSource, refuseMore } from './source.ts';

const SHA512_BYTES = 64;
const SALTED = /^\$6\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/;
const PBKDF2 = /^\$7\$(\d{1,9})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/;

/**
 * The hashes of a password file by user, as Apus's users file has them.
 *
 * @throws {CommandError} for a line that Mosquitto would refuse
 */
export async function mosquittoPasswords(path: string, notes: Note[]): Promise<ReadonlyMap<string, string>> {
  const lines = linesOf(readSource(path), path);
  refuseMore(lines.length, path);
  const hashes = new Map<string, string>();
  const names = new Set<string>();
  for (const { text, where } of lines) {
    const [name = '', encoded = ''] = text.split(/:(.*)/s);
    if (name === '' || encoded === '')
      throw new CommandError(`${where}: it has to be NAME:HASH, as mosquitto_passwd writes it.`);
    if (names.has(name)) throw new CommandError(`${where}: there are two users ${JSON.stringify(name)}.`);
    names.add(name);
    const made = await hashOf(encoded);
    if ('hash' in made) hashes.set(name, made.hash);
    else
      notes.push({
        where,
        why: `user ${JSON.stringify(name)} is left out: ${made.problem}. \`apus user add\` adds it with a new password`,
      });
  }
  return hashes;
}

type Made = { readonly hash: string } | { readonly problem: string };

async function hashOf(encoded: string): Promise<Made> {
  const [, count, keySalt = '', derived] = PBKDF2.exec(encoded) ?? [];
  if (derived !== undefined) {
    const key = Buffer.from(derived, 'base64');
    const salt = Buffer.from(keySalt, 'base64');
    return await wrapped(key, { digest: 'sha512', iterations: Number(count), keyBytes: key.length, salt });
  }
  const [, salt = '', digest] = SALTED.exec(encoded) ?? [];
  if (digest !== undefined) {
    const key = Buffer.from(digest, 'base64');
    if (key.length !== SHA512_BYTES) return { problem: 'its hash has not 64 bytes' };
    return await wrapped(key, { digest: 'sha512', saltAt: 'suffix', salt: Buffer.from(salt, 'base64') });
  }
  if (encoded.startsWith('$argon2')) return { problem: 'Apus does not calculate Argon2' };
  return { problem: 'it has no hash of mosquitto_passwd (`mosquitto_passwd -U FILE` makes them)' };
}

/** The broker's reader decides which hashes it takes. */
async function wrapped(key: Uint8Array, foreign: ForeignHash): Promise<Made> {
  const hash = await wrapForeignHash(key, foreign);
  if (parsePasswordHash(hash) !== undefined) return { hash };
  return { problem: 'its hash has more iterations, or other bytes, than Apus takes' };
}
