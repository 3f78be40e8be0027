import { createHash, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  type ForeignHash,
  hashPassword,
  isPassword,
  parsePasswordHash,
  wrapForeignHash,
} from '../src/index.ts';

const PASSWORD = Buffer.from('päss');
const salt = Buffer.from('salt of another broker');

const FOREIGN: readonly (readonly [string, ForeignHash, Buffer])[] = [
  [
    'salt behind the password',
    { digest: 'sha512', saltAt: 'suffix', salt },
    createHash('sha512').update(PASSWORD).update(salt).digest(),
  ],
  [
    'salt before it',
    { digest: 'sha256', saltAt: 'prefix', salt },
    createHash('sha256').update(salt).update(PASSWORD).digest(),
  ],
  [
    'no salt',
    { digest: 'md5', saltAt: 'suffix', salt: Buffer.alloc(0) },
    createHash('md5').update(PASSWORD).digest(),
  ],
  [
    'PBKDF2',
    { digest: 'sha512', iterations: 101, keyBytes: 64, salt },
    pbkdf2Sync(PASSWORD, salt, 101, 64, 'sha512'),
  ],
];

describe.each(FOREIGN)('a hash of another broker: %s', (_name, foreign, key) => {
  it('accepts the password and no other, and not the hash itself', async () => {
    const text = await wrapForeignHash(key, foreign);
    const hash = parsePasswordHash(text);
    if (hash === undefined) throw new Error(text);
    expect(await isPassword(PASSWORD, hash)).toBe(true);
    expect(await isPassword(Buffer.from('pass'), hash)).toBe(false);
    expect(await isPassword(key, hash)).toBe(false);
  });

  it('does not stand in the text, in any encoding', async () => {
    const text = await wrapForeignHash(key, foreign);
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      expect(text).not.toContain(key.toString(encoding).replace(/=+$/, ''));
  });
});

test('a text that names a hash Apus cannot make, or one that costs too much, is no hash', async () => {
  const own = await hashPassword(PASSWORD);
  for (const foreign of [
    'sha3:suffix:AAAA',
    'sha512:middle:AAAA',
    'pbkdf2-sha512:250001:64:AAAA',
    'pbkdf2-sha512:0:64:AAAA',
    'pbkdf2-sha512:101:65:AAAA',
    'bcrypt:AAAA',
    '',
  ])
    expect([foreign, parsePasswordHash(`${own}:${foreign}`)]).toEqual([foreign, undefined]);
  expect(parsePasswordHash(`${own}:pbkdf2-sha512:250000:64:AAAA`)).toBeDefined();
});
