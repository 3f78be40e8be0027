import { createHash, timingSafeEqual } from 'node:crypto';
import { parseQuotas, type Quotas, ruleFilterProblem } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import { DEFAULT_TENANT, isTenant } from '../tenant.ts';

/** Characters of a key. 32 of letters and digits hold 190 bits: no attacker guesses one, and SHA-256 is enough to keep it. */
export const KEY_LENGTH_MIN = 32;

/** Keys of one list: each request compares all of them. */
export const KEYS_MAX = 100;

/** Name of the identity of a key without a name. */
const NAMELESS_KEY = 'backend';

/** One key of a backend or of a device, and its rights. */
export interface ApiKey {
  /** Name of the identity; undefined if the list is a single key. */
  readonly name: string | undefined;
  /** SHA-256 of the key. */
  readonly digest: Buffer;
  readonly tenant: string;
  /** Topic filters to which the key may publish. */
  readonly publish: readonly string[];
  /** Topic filters to which the key may subscribe. */
  readonly subscribe: readonly string[];
  /** Quotas that are not named are the broker's. */
  readonly quotas?: Partial<Quotas>;
}

/** The credential of a caller: a key, and with Basic or in CONNECT a name too. */
export interface ShownKey {
  readonly name: string | undefined;
  readonly key: string;
}

const EXAMPLE = '{"keys": [{"name": "orders", "key": "…", "publish": ["orders/#"], "tenant": "default"}]}';

/**
 * Reads a list of keys, or one key alone, which may publish everywhere in the default tenant.
 *
 *     {"keys": [{"name": "orders", "key": "…", "publish": ["orders/#"], "subscribe": [], "tenant": "shop"}]}
 *
 * `sha256` in the place of `key` is its hash in hexadecimal. Without `publish` a key may publish to all topics, without
 * `subscribe` it may not subscribe, and without `tenant` it is for the default tenant. `quotas` are those of a token.
 *
 * @throws {ConfigurationError} that names the error, and never contains a key
 */
export function parseApiKeys(text: string): readonly ApiKey[] {
  if (text.trimStart().startsWith('{')) return readApiKeys(keysIn(text), '');
  const digest = digestOf(checkedKey(text.trim(), 'the key'));
  return [{ name: undefined, digest, tenant: DEFAULT_TENANT, publish: ['#'], subscribe: [] }];
}

/** @throws {ConfigurationError} */
export function readApiKeys(keys: unknown, where: string): readonly ApiKey[] {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > KEYS_MAX)
    throw new ConfigurationError(`there should be 1 to ${KEYS_MAX} keys, as ${EXAMPLE}; or one key alone`);
  return keys.map((entry, index) => readKey(entry, `${where}keys[${index}]`));
}

function keysIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly keys?: unknown }).keys;
  } catch {
    // The message of JSON.parse quotes the text, which may contain a key.
    throw new ConfigurationError(`the list of keys is not JSON; it should look like ${EXAMPLE}`);
  }
}

function readKey(entry: unknown, where: string): ApiKey {
  if (typeof entry !== 'object' || entry === null)
    throw new ConfigurationError(`${where} should be an object, as in ${EXAMPLE}`);
  const fields = entry as Readonly<Record<string, unknown>>;
  const { name, tenant = DEFAULT_TENANT, publish = ['#'], subscribe = [] } = fields;
  if (typeof name !== 'string' || name === '' || name.includes(':'))
    throw new ConfigurationError(`${where}.name should be a name without a colon`);
  if (!isTenant(tenant))
    throw new ConfigurationError(`${where}.tenant should have up to 64 letters, digits, ".", "_" and "-"`);
  return {
    name,
    digest: readDigest(fields, where),
    tenant,
    publish: readFilters(publish, `${where}.publish`),
    subscribe: readFilters(subscribe, `${where}.subscribe`),
    ...readQuotas(fields.quotas, `${where}.quotas`),
  };
}

function readQuotas(given: unknown, where: string): Pick<ApiKey, 'quotas'> {
  if (given === undefined) return {};
  const quotas = parseQuotas(given);
  if (typeof quotas === 'string') throw new ConfigurationError(`${where}: ${quotas}`);
  return { quotas };
}

function readDigest({ key, sha256 }: Readonly<Record<string, unknown>>, where: string): Buffer {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, 'hex');
  if (sha256 !== undefined) throw new ConfigurationError(`${where}.sha256 should have 64 hexadecimal digits`);
  return digestOf(checkedKey(typeof key === 'string' ? key : '', `${where}.key`));
}

function checkedKey(key: string, where: string): string {
  // The key travels in a header.
  if (/[^!-~]/.test(key))
    throw new ConfigurationError(`${where} should have no spaces and no characters beyond ASCII`);
  if (key.length >= KEY_LENGTH_MIN) return key;
  throw new ConfigurationError(
    `${where} should have at least ${KEY_LENGTH_MIN} characters, not ${key.length}`,
  );
}

function readFilters(filters: unknown, where: string): readonly string[] {
  const isList = Array.isArray(filters) && filters.every((each) => typeof each === 'string');
  if (!isList) throw new ConfigurationError(`${where} should be a list of topic filters`);
  for (const filter of filters) {
    const problem = ruleFilterProblem(filter);
    if (problem !== undefined) throw new ConfigurationError(`${where}: ${problem}`);
  }
  return filters;
}

/**
 * The key that matches, or undefined. All keys are compared, each in constant time, so that the time of an answer
 * reveals nothing about them.
 */
export function findApiKey(keys: readonly ApiKey[], { name, key }: ShownKey): ApiKey | undefined {
  const digest = digestOf(key);
  let found: ApiKey | undefined;
  for (const each of keys) {
    const isSame = timingSafeEqual(each.digest, digest);
    const isName = name === undefined || each.name === undefined || each.name === name;
    if (isSame && isName) found = each;
  }
  return found;
}

/** The name of the key's owner. It is not the name that the caller sends: traffic is charged to the key. */
export function nameOfKey({ name }: ApiKey): string {
  return name ?? NAMELESS_KEY;
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
