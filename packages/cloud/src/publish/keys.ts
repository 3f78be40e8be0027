import { createHash, timingSafeEqual } from 'node:crypto';
import { validateTopicFilter } from '@apus/mqtt';
import { isTenant } from '../tenant.ts';
import { isObject } from './fields.ts';
import { KEY_LENGTH_MIN, KEYS_MAX } from './limits.ts';

/** One key of a backend, and what it opens. */
export interface PublishKey {
  /** Name of the identity; undefined where the secret is one key and nothing else. */
  readonly name: string | undefined;
  /** SHA-256 of the key. */
  readonly digest: Buffer;
  /** Undefined: the request says which, or the default tenant is meant. */
  readonly tenant: string | undefined;
  /** Topic filters that it may publish to. */
  readonly publish: readonly string[];
}

/** What a backend has shown: a key, and with Basic a name too. */
export interface ShownKey {
  readonly name: string | undefined;
  readonly key: string;
}

const EXAMPLE =
  '{"keys": [{"name": "orders", "key": "…", "publish": ["orders/#"], "tenant": "default"}]}; or one key alone';

/**
 * Reads the secret that holds the keys: a key alone, which may publish everywhere, or a list.
 *
 *     {"keys": [{"name": "orders", "key": "…", "publish": ["orders/#"], "tenant": "shop"}]}
 *
 * `sha256` in the place of `key` is its hash in hexadecimal. Without `publish` a key is for all topics.
 *
 * @throws {Error} that says what is wrong, and never what a key is
 */
export function parsePublishKeys(text: string): readonly PublishKey[] {
  if (!text.trimStart().startsWith('{')) {
    const key = text.trim();
    return [
      { name: undefined, digest: digestOf(checkedKey(key, 'the key')), tenant: undefined, publish: ['#'] },
    ];
  }
  const keys = keysIn(text);
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > KEYS_MAX)
    throw new Error(`the secret should hold 1 to ${KEYS_MAX} keys, as ${EXAMPLE}`);
  return keys.map((entry, index) => readKey(entry, `keys[${index}]`));
}

function keysIn(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed.keys : undefined;
  } catch {
    // What JSON.parse says quotes the text.
    throw new Error(`the secret is not JSON; it should look like ${EXAMPLE}`);
  }
}

function readKey(entry: unknown, where: string): PublishKey {
  if (!isObject(entry)) throw new Error(`${where} should be an object, as in ${EXAMPLE}`);
  const { name, tenant, publish = ['#'] } = entry;
  if (typeof name !== 'string' || name === '' || name.includes(':'))
    throw new Error(`${where}.name should be a name without a colon`);
  if (tenant !== undefined && !isTenant(tenant))
    throw new Error(`${where}.tenant should have up to 64 letters, digits, ".", "_" and "-"`);
  return { name, digest: readDigest(entry, where), tenant, publish: readFilters(publish, where) };
}

function readDigest({ key, sha256 }: Readonly<Record<string, unknown>>, where: string): Buffer {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, 'hex');
  if (sha256 !== undefined) throw new Error(`${where}.sha256 should have 64 hexadecimal digits`);
  return digestOf(checkedKey(typeof key === 'string' ? key : '', `${where}.key`));
}

function checkedKey(key: string, where: string): string {
  // It travels in a header.
  if (/[^!-~]/.test(key)) throw new Error(`${where} should have no spaces and no characters beyond ASCII`);
  if (key.length >= KEY_LENGTH_MIN) return key;
  throw new Error(`${where} should have at least ${KEY_LENGTH_MIN} characters, not ${key.length}`);
}

function readFilters(publish: unknown, where: string): readonly string[] {
  const isList = Array.isArray(publish) && publish.every((each) => typeof each === 'string');
  if (!isList) throw new Error(`${where}.publish should be a list of topic filters`);
  for (const filter of publish) {
    const invalid = validateTopicFilter(filter);
    if (invalid !== undefined) throw new Error(`${where}.publish: ${invalid.reason}`);
  }
  return publish;
}

/**
 * The key that was shown, or undefined. All are compared, each in constant time, so that the time of an answer says
 * nothing about any of them.
 */
export function findKey(keys: readonly PublishKey[], { name, key }: ShownKey): PublishKey | undefined {
  const digest = digestOf(key);
  let found: PublishKey | undefined;
  for (const each of keys) {
    const isSame = timingSafeEqual(each.digest, digest);
    const isName = name === undefined || each.name === undefined || each.name === name;
    if (isSame && isName) found = each;
  }
  return found;
}

/** The key of an `Authorization` header: `Bearer KEY`, or `Basic` with `NAME:KEY` in base64. */
export function shownKey(authorization: string | undefined): ShownKey | undefined {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization ?? '') ?? [];
  if (value === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return { name: undefined, key: value };
  const credentials = Buffer.from(value, 'base64').toString();
  const colon = credentials.indexOf(':');
  return colon < 0 ? undefined : { name: credentials.slice(0, colon), key: credentials.slice(colon + 1) };
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
