import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { TenantEntry } from '@apus/identity';
import { CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

/** Characters of a name that is derived from the key. */
const KID_LENGTH = 8;

/** The file mode for a private key. */
const MODE = 0o600;

export const KEY_FLAGS: Flags = {
  'new-key': {
    value: 'FILE',
    help: 'Makes a key pair (Ed25519): the private key goes into the file, which must not be there yet, and the public one to the broker. `apus token --key-file FILE` signs with it.',
  },
  key: { value: 'FILE', help: 'A public key of the tenant, in PEM, beside those that it has.' },
  kid: { value: 'KID', help: 'The name of that key in tokens (`kid`).', default: 'one of the key itself' },
  'drop-key': { value: 'KID', help: 'Takes a key away: the broker refuses its tokens after half a minute.' },
};

type Keys = NonNullable<TenantEntry['keys']>;

/** The keys of a tenant after applying these flags; undefined if the flags leave its keys unchanged. */
export function keysFrom(values: Values, before: TenantEntry | undefined): { readonly keys?: Keys } {
  const [fresh, path, dropped] = [values.text('new-key'), values.text('key'), values.text('drop-key')];
  if (fresh !== undefined && path !== undefined)
    throw new UsageError('--new-key and --key exclude each other.');
  if (values.isSet('kid') && fresh === undefined && path === undefined)
    throw new UsageError('--kid goes with --new-key or --key.');
  if (fresh === undefined && path === undefined && dropped === undefined) return {};
  const kept = (before?.keys ?? []).filter(({ kid }) => kid !== dropped);
  if (dropped !== undefined && kept.length === (before?.keys ?? []).length)
    throw new CommandError(`The tenant has no key "${dropped}".`);
  const pem = fresh !== undefined ? newKey(fresh) : path !== undefined ? publicKey(path) : undefined;
  const added = pem === undefined ? [] : [{ kid: values.text('kid') ?? kidOfPem(pem), pem }];
  return { keys: [...added, ...kept] };
}

/** The default name of a key, derived from it: `apus token` finds the name from the private key alone. */
export function kidOfPem(publicPem: string): string {
  return createHash('sha256').update(publicPem.trim()).digest('hex').slice(0, KID_LENGTH);
}

function newKey(path: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  try {
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: MODE, flag: 'wx' });
  } catch (error) {
    throw new CommandError(`The private key cannot be written: ${(error as Error).message}`);
  }
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

function publicKey(path: string): string {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The public key cannot be read: ${(error as Error).message}`);
  }
  if (pem.includes('PRIVATE KEY'))
    throw new UsageError(`${path} is a private key: the broker needs the public one alone.`);
  return pem;
}
