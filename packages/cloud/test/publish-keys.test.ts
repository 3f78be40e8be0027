import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CachedKeys } from '../src/publish/callers.ts';
import { findKey, parsePublishKeys, shownKey } from '../src/publish/keys.ts';

const KEY = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);
const listOf = (...keys: object[]) => JSON.stringify({ keys });

describe('the secret with the keys', () => {
  it('is a key alone, which opens everything under any name', () => {
    const keys = parsePublishKeys(`${KEY}\n`);
    expect(findKey(keys, { name: undefined, key: KEY })).toMatchObject({ publish: ['#'], tenant: undefined });
    expect(findKey(keys, { name: 'anybody', key: KEY })).toBeDefined();
    expect(findKey(keys, { name: undefined, key: OTHER })).toBeUndefined();
    expect(findKey(keys, { name: undefined, key: '' })).toBeUndefined();
  });

  it('is a list of keys, each for its topics and tenant, under its own name', () => {
    const keys = parsePublishKeys(
      listOf(
        { name: 'orders', key: KEY, publish: ['orders/#'], tenant: 'shop' },
        { name: 'all', sha256: createHash('sha256').update(OTHER).digest('hex').toUpperCase() },
      ),
    );
    expect(findKey(keys, { name: undefined, key: KEY })).toMatchObject({
      name: 'orders',
      publish: ['orders/#'],
      tenant: 'shop',
    });
    expect(findKey(keys, { name: 'all', key: OTHER })).toMatchObject({ name: 'all', publish: ['#'] });
    expect(findKey(keys, { name: 'orders', key: OTHER })).toBeUndefined();
  });

  it.each([
    ['short', 'the key should have at least 32 characters, not 5'],
    [`${KEY} ${KEY}`, 'the key should have no spaces'],
    ['', 'the key should have at least 32 characters, not 0'],
    [`{"keys": [{"name": "a", "key": "${KEY}`, 'the secret is not JSON'],
    ['{}', 'the secret should hold 1 to 100 keys'],
    [listOf(), 'the secret should hold 1 to 100 keys'],
    [JSON.stringify({ keys: ['a'] }), 'keys[0] should be an object'],
    [listOf({ key: KEY }), 'keys[0].name should be a name without a colon'],
    [listOf({ name: 'a:b', key: KEY }), 'keys[0].name should be a name without a colon'],
    [listOf({ name: 'a', key: 'short' }), 'keys[0].key should have at least 32 characters, not 5'],
    [listOf({ name: 'a' }), 'keys[0].key should have at least 32 characters, not 0'],
    [listOf({ name: 'a', sha256: 'abc' }), 'keys[0].sha256 should have 64 hexadecimal digits'],
    [listOf({ name: 'a', key: KEY, tenant: 'a b' }), 'keys[0].tenant should have up to 64 letters'],
    [listOf({ name: 'a', key: KEY, publish: 'a' }), 'keys[0].publish should be a list of topic filters'],
    [listOf({ name: 'a', key: KEY, publish: ['a/#/b'] }), 'keys[0].publish: '],
  ])('that is %s is refused, without a word of the key', (text, sentence) => {
    expect(() => parsePublishKeys(text)).toThrow(sentence);
    expect(() => parsePublishKeys(text)).not.toThrow(KEY);
  });
});

describe('a key that is shown', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each([
    [`Bearer ${KEY}`, { name: undefined, key: KEY }],
    [`bearer  ${KEY}`, { name: undefined, key: KEY }],
    [basic(`orders:${KEY}`), { name: 'orders', key: KEY }],
    [basic(`a:b:c`), { name: 'a', key: 'b:c' }],
    [basic('no colon'), undefined],
    ['Digest abc', undefined],
    ['Bearer', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('as %s', (header, shown) => {
    expect(shownKey(header)).toEqual(shown);
  });
});

describe('keys that are kept elsewhere', () => {
  it('are read once, again when one is not known, and for good measure every five minutes', async () => {
    const time = { nowMs: 1_000_000, now: () => time.nowMs };
    let secret = KEY;
    let reads = 0;
    const source = new CachedKeys(async () => {
      reads += 1;
      return parsePublishKeys(secret);
    }, time);
    const isKnown = async (key: string) =>
      (await source.find((keys) => findKey(keys, { name: undefined, key }))) !== undefined;

    expect([await isKnown(KEY), await isKnown(KEY), reads]).toEqual([true, true, 1]);
    secret = OTHER;
    expect([await isKnown(OTHER), reads]).toEqual([false, 1]);
    time.nowMs += 10_000;
    expect([await isKnown(OTHER), reads]).toEqual([true, 2]);
    expect([await isKnown(KEY), reads]).toEqual([false, 2]);

    secret = KEY;
    time.nowMs += 5 * 60_000 - 1;
    expect([await isKnown(OTHER), reads]).toEqual([true, 2]);
    time.nowMs += 1;
    expect([await isKnown(OTHER), reads]).toEqual([false, 3]);
  });

  it('that could not be read are read again by the next who asks', async () => {
    let fails = true;
    const source = new CachedKeys(
      async () => {
        if (fails) throw new Error('no permission');
        return parsePublishKeys(KEY);
      },
      { now: () => 0 },
    );
    const find = () => source.find((keys) => findKey(keys, { name: undefined, key: KEY }));
    await expect(find()).rejects.toThrow('no permission');
    fails = false;
    expect(await find()).toBeDefined();
  });
});
