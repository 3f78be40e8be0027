import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { type ForeignHash, foreignHashOf, formatForeignHash, parseForeignHash } from './foreign-hash.ts';

/** The cost of scrypt (RFC 7914): 16 MiB and some 50 ms for each password tried. */
const COST = 16_384;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** The most memory for a hash, even if a users file asks for more. */
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;

export interface PasswordHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly key: Buffer;
  /** scrypt is of this hash of the broker that the user came from, and not of the password. */
  readonly of?: ForeignHash;
}

/** The text that a users file holds: `scrypt:16384:8:1:{salt}:{key}`, the last two in base64url. */
export async function hashPassword(password: Uint8Array): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const parameters = { cost: COST, blockSize: BLOCK_SIZE, parallelism: PARALLELISM, salt };
  const key = await derive(password, parameters, KEY_BYTES);
  const encoded = [salt, key].map((bytes) => bytes.toString('base64url'));
  return ['scrypt', COST, BLOCK_SIZE, PARALLELISM, ...encoded].join(':');
}

/** The text for a user of another broker, whose password only its client knows: `{as above}:{foreign hash}`. */
export async function wrapForeignHash(key: Uint8Array, hash: ForeignHash): Promise<string> {
  return `${await hashPassword(key)}:${formatForeignHash(hash)}`;
}

/** The hash of no password, which takes as long to check as any other: for users that do not exist. */
export function hashOfNothing(): PasswordHash {
  const parameters = { cost: COST, blockSize: BLOCK_SIZE, parallelism: PARALLELISM };
  return { ...parameters, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
}

/** Undefined if the text is no hash of Apus. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const match = /^scrypt:(\d{1,8}):(\d{1,3}):(\d{1,2}):([\w-]{8,}):([\w-]{16,})(?::(.+))?$/.exec(text);
  if (match === null) return undefined;
  const [, cost, blockSize, parallelism, salt = '', key = '', foreign] = match;
  const of = foreign === undefined ? undefined : parseForeignHash(foreign);
  if (foreign !== undefined && of === undefined) return undefined;
  const hash = {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
    ...(of !== undefined && { of }),
  };
  const isPowerOfTwo = hash.cost > 1 && (hash.cost & (hash.cost - 1)) === 0;
  const isAffordable = 128 * hash.cost * hash.blockSize <= MEMORY_BYTES_MAX;
  return isPowerOfTwo && isAffordable && hash.blockSize > 0 && hash.parallelism > 0 ? hash : undefined;
}

export async function isPassword(password: Uint8Array, hash: PasswordHash): Promise<boolean> {
  const hashed = hash.of === undefined ? password : await foreignHashOf(password, hash.of);
  return timingSafeEqual(await derive(hashed, hash, hash.key.length), hash.key);
}

/** Runs on the thread pool, so the event loop is not blocked. */
function derive(
  password: Uint8Array,
  { cost, blockSize, parallelism, salt }: Omit<PasswordHash, 'key' | 'of'>,
  keyBytes: number,
): Promise<Buffer> {
  const options = { cost, blockSize, parallelization: parallelism, maxmem: 2 * MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, keyBytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
