import { createHash } from 'node:crypto';
import { rulesOfLists } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { ApiKeyAuthenticator } from '../src/api-keys/api-key-authenticator.ts';
import { FixedApiKeys, findApiKey, parseApiKeys, StoredApiKeys, shownKey } from '../src/index.ts';

const KEY = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);
const listOf = (...keys: object[]) => JSON.stringify({ keys });

describe('the secret with the keys', () => {
  it('may be a single key, which may publish everywhere in the default tenant under any name', () => {
    const keys = parseApiKeys(`${KEY}\n`);
    expect(findApiKey(keys, { name: undefined, key: KEY })).toMatchObject({
      publish: ['#'],
      tenant: 'default',
    });
    expect(findApiKey(keys, { name: 'anybody', key: KEY })).toBeDefined();
    expect(findApiKey(keys, { name: undefined, key: OTHER })).toBeUndefined();
    expect(findApiKey(keys, { name: undefined, key: '' })).toBeUndefined();
  });

  it('may be a list of keys, each with its topics, tenant and name', () => {
    const keys = parseApiKeys(
      listOf(
        { name: 'orders', key: KEY, publish: ['orders/#'], tenant: 'shop' },
        { name: 'all', sha256: createHash('sha256').update(OTHER).digest('hex').toUpperCase() },
      ),
    );
    expect(findApiKey(keys, { name: undefined, key: KEY })).toMatchObject({
      name: 'orders',
      publish: ['orders/#'],
      tenant: 'shop',
    });
    expect(findApiKey(keys, { name: 'all', key: OTHER })).toMatchObject({ name: 'all', publish: ['#'] });
    expect(findApiKey(keys, { name: 'orders', key: OTHER })).toBeUndefined();
  });

  it.each([
    ['short', 'the key should have at least 32 characters, not 5'],
    [`${KEY} ${KEY}`, 'the key should have no spaces'],
    ['', 'the key should have at least 32 characters, not 0'],
    [`{"keys": [{"name": "a", "key": "${KEY}`, 'the list of keys is not JSON'],
    ['{}', 'there should be 1 to 100 keys'],
    [listOf(), 'there should be 1 to 100 keys'],
    [JSON.stringify({ keys: ['a'] }), 'keys[0] should be an object'],
    [listOf({ key: KEY }), 'keys[0].name should be a name without a colon'],
    [listOf({ name: 'a:b', key: KEY }), 'keys[0].name should be a name without a colon'],
    [listOf({ name: 'a', key: 'short' }), 'keys[0].key should have at least 32 characters, not 5'],
    [listOf({ name: 'a' }), 'keys[0].key should have at least 32 characters, not 0'],
    [listOf({ name: 'a', sha256: 'abc' }), 'keys[0].sha256 should have 64 hexadecimal digits'],
    [listOf({ name: 'a', key: KEY, tenant: 'a b' }), 'keys[0].tenant should have up to 64 letters'],
    [listOf({ name: 'a', key: KEY, publish: 'a' }), 'keys[0].publish should be a list of topic filters'],
    [listOf({ name: 'a', key: KEY, publish: ['a/#/b'] }), 'keys[0].publish: '],
    [listOf({ name: 'a', key: KEY, quotas: { connections: 1 } }), 'keys[0].quotas: There is no quota'],
    [listOf({ name: 'a', key: KEY, quotas: { connectionsMax: -1 } }), 'keys[0].quotas: "connectionsMax" has'],
  ])('that is %s is refused, without a word of the key', (text, sentence) => {
    expect(() => parseApiKeys(text)).toThrow(sentence);
    expect(() => parseApiKeys(text)).not.toThrow(KEY);
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
  it('are read once, again for an unknown key, and every five minutes', async () => {
    const time = { nowMs: 1_000_000, now: () => time.nowMs };
    let secret = KEY;
    let reads = 0;
    const read = async () => {
      reads += 1;
      return secret;
    };
    const source = new StoredApiKeys({ what: 'The keys', read, clock: time });
    const isKnown = async (key: string) =>
      (await source.find((keys) => findApiKey(keys, { name: undefined, key }))) !== undefined;

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

  it('that could not be read are read again after two seconds', async () => {
    const time = { nowMs: 0, now: () => time.nowMs };
    let fails = true;
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (fails) throw new Error('no permission');
      return KEY;
    };
    const source = new StoredApiKeys({ what: 'The keys', read, clock: time });
    const find = () => source.find((keys) => findApiKey(keys, { name: undefined, key: KEY }));
    await expect(find()).rejects.toThrow('The keys cannot be read now');
    fails = false;
    await expect(find()).rejects.toThrow('The keys cannot be read now');
    expect(reads).toBe(1);
    time.nowMs += 2_000;
    expect(await find()).toBeDefined();
  });
});

describe('a client that shows a key', () => {
  const list = listOf({ name: 'meter', key: KEY, publish: ['m/#'], subscribe: ['n'], tenant: 'shop' });
  const authenticator = new ApiKeyAuthenticator('apiKeys', new FixedApiKeys(parseApiKeys(list)));
  const address = '192.0.2.1';
  const password = (text: string) => new TextEncoder().encode(text);

  it('connects under the name of the key, in the handshake or in CONNECT', async () => {
    const identity = {
      tenant: 'shop',
      name: 'meter',
      rules: rulesOfLists(['m/#'], ['n']),
      tokenId: 'meter',
      source: 'apiKeys',
    };
    expect(await authenticator.authenticate({ token: KEY, address })).toEqual(identity);
    const login = { username: 'meter', password: password(KEY), address };
    expect(await authenticator.authenticate(login)).toEqual(identity);
  });

  it('has the quotas of its entry [SEC-QUOTA-6]', async () => {
    const quotas = { connectionsMax: 1 };
    const own = JSON.stringify({ keys: [{ name: 'meter', key: KEY, quotas }] });
    const bounded = new ApiKeyAuthenticator('apiKeys', new FixedApiKeys(parseApiKeys(own)));
    expect(await bounded.authenticate({ token: KEY, address })).toMatchObject({ name: 'meter', quotas });
  });

  it('is left to the next authenticator if the key is unknown', async () => {
    const login = (username: string) => ({ username, password: password(OTHER), address });
    expect(await authenticator.authenticate(login('meter'))).toHaveProperty('notMine');
    expect(await authenticator.authenticate(login('ada'))).toHaveProperty('notMine');
    expect(await authenticator.authenticate({ token: OTHER, address })).toHaveProperty('notMine');
    expect(await authenticator.authenticate({ token: 'e30.e30.e30', address })).toHaveProperty('notMine');
  });

  it('is told to try again later while the keys cannot be read', async () => {
    const read = () => Promise.reject(new Error('no permission'));
    const stored = new StoredApiKeys({ what: 'The keys', read, clock: { now: () => 0 } });
    const answer = await new ApiKeyAuthenticator('apiKeys', stored).authenticate({ token: KEY, address });
    expect(answer).toMatchObject({ refused: 0x88 });
  });
});
