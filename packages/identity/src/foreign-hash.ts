import { createHash, pbkdf2 } from 'node:crypto';

/** Of PBKDF2: with SHA-512 some 150 ms for each password tried, three times the scrypt behind it. */
const ITERATIONS_MAX = 250_000;
const KEY_BYTES_MAX = 64;

const DIGESTS = ['md5', 'sha1', 'sha256', 'sha512'] as const;

export type ForeignDigest = (typeof DIGESTS)[number];

/**
 * The hash that another broker has of a password. A users file never holds one: it would be a fast one, which a thief
 * tries by the million. It holds the scrypt of it, and this text about how it is made.
 */
export type ForeignHash =
  | { readonly digest: ForeignDigest; readonly saltAt: 'prefix' | 'suffix'; readonly salt: Buffer }
  | {
      readonly digest: ForeignDigest;
      readonly iterations: number;
      readonly keyBytes: number;
      readonly salt: Buffer;
    };

/** `sha512:suffix:{salt}` or `pbkdf2-sha512:101:64:{salt}`. */
const SALTED = /^(\w+):(prefix|suffix):([\w-]{0,512})$/;
const PBKDF2 = /^pbkdf2-(\w+):(\d{1,7}):(\d{1,2}):([\w-]{0,512})$/;

export function isForeignDigest(name: string | undefined): name is ForeignDigest {
  return (DIGESTS as readonly (string | undefined)[]).includes(name);
}

/** Undefined if the text names no hash that Apus can make. */
export function parseForeignHash(text: string): ForeignHash | undefined {
  const [, digest, saltAt, salt = ''] = SALTED.exec(text) ?? [];
  if (isForeignDigest(digest) && (saltAt === 'prefix' || saltAt === 'suffix'))
    return { digest, saltAt, salt: Buffer.from(salt, 'base64url') };
  const [, hmac, count, bytes, keySalt = ''] = PBKDF2.exec(text) ?? [];
  const [iterations, keyBytes] = [Number(count), Number(bytes)];
  const isAffordable = iterations > 0 && iterations <= ITERATIONS_MAX;
  if (!isForeignDigest(hmac) || !isAffordable || keyBytes === 0 || keyBytes > KEY_BYTES_MAX) return undefined;
  return { digest: hmac, iterations, keyBytes, salt: Buffer.from(keySalt, 'base64url') };
}

export function formatForeignHash(hash: ForeignHash): string {
  const salt = hash.salt.toString('base64url');
  if ('saltAt' in hash) return `${hash.digest}:${hash.saltAt}:${salt}`;
  return `pbkdf2-${hash.digest}:${hash.iterations}:${hash.keyBytes}:${salt}`;
}

/** The other broker's hash of a password; PBKDF2 runs on the thread pool. */
export function foreignHashOf(password: Uint8Array, hash: ForeignHash): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (!('saltAt' in hash)) {
      const { salt, iterations, keyBytes, digest } = hash;
      pbkdf2(password, salt, iterations, keyBytes, digest, (error, key) =>
        error === null ? resolve(key) : reject(error),
      );
      return;
    }
    const parts = hash.saltAt === 'prefix' ? [hash.salt, password] : [password, hash.salt];
    resolve(createHash(hash.digest).update(Buffer.concat(parts)).digest());
  });
}
