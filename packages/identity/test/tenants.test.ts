import type { Identity } from '@apus/broker';
import { rulesOfLists } from '@apus/broker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChain, GuessLimiter, KnownTenants, readIdentity, type TenantEntry } from '../src/index.ts';
import {
  ADDRESS,
  KeySetServer,
  NOW_SECONDS,
  reasonOf,
  SECRET,
  type Signer,
  signer,
  signWith,
  TestClock,
} from './support/tokens.ts';

const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const AUTHENTICATORS = [{ tenants: { defaultRules: { subscribe: ['news'] } } }, { jwt: { secret: SECRET } }];

const clock = new TestClock();
let register: Map<string, string>;
let reads: string[];
let own: Signer;

beforeEach(async () => {
  register = new Map();
  reads = [];
  own = await signer('EdDSA', '1');
  put({ name: 'acme', keys: [own.jwk] });
});

function put(entry: Partial<TenantEntry> & { name: string }): void {
  const whole = { state: 'active', createdAt: '2026-01-01T00:00:00Z', ...entry };
  register.set(entry.name, JSON.stringify(whole));
}

function chainOf(
  read = async (name: string) => register.get(name),
  authenticators: object[] = AUTHENTICATORS,
) {
  const tenants = new KnownTenants({
    read: async (name) => {
      reads.push(name);
      return await read(name);
    },
    ...{ clock, log: LOG },
  });
  const chain = createChain(readIdentity({ authenticators }, 'identity'), {
    ...{ clock, log: LOG, tenants, limiter: new GuessLimiter(clock) },
  });
  return (token: string) => chain.verify(token, ADDRESS);
}

describe('a name that is no string of MQTT [SEC-TOKEN-10]', () => {
  it.each(['a\0', 'half \ud800 pair'])('is refused, and a well-formed one is taken: %j', async (sub) => {
    const verify = chainOf();
    expect(await verify(await own.sign({ tenant: 'acme', sub }))).toMatchObject({ refused: 0x87 });
    expect(await verify(await own.sign({ tenant: 'acme', sub: 'Zoë 🐦' }))).toMatchObject({ name: 'Zoë 🐦' });
  });
});

describe('a token that a tenant signed with a key of its own [SEC-TENANT-7]', () => {
  it('belongs to this tenant, with the default rules of the configuration or of its tenant, or its own', async () => {
    const verify = chainOf();
    expect(await verify(await own.sign({ tenant: 'acme' }))).toMatchObject({
      ...{ tenant: 'acme', name: 'ada', keyId: '1', source: 'tenants', rules: rulesOfLists([], ['news']) },
    });
    put({ name: 'acme', keys: [own.jwk], defaultRules: { publish: ['out'], subscribe: [] } });
    expect(await chainOf()(await own.sign({ tenant: 'acme' }))).toMatchObject({
      rules: rulesOfLists(['out'], []),
    });
    expect(await verify(await own.sign({ tenant: 'acme', publish: ['a'] }))).toMatchObject({
      rules: rulesOfLists(['a'], ['news']),
    });
  });

  it('is refused for another tenant, which has a key of the same name', async () => {
    const others = await signer('EdDSA', '1');
    put({ name: 'other', keys: [others.jwk] });
    const verify = chainOf();
    expect(reasonOf(await verify(await own.sign({ tenant: 'other' })))).toContain('signature');
    expect(await verify(await others.sign({ tenant: 'other' }))).toMatchObject({ tenant: 'other' });
    for (const tenant of [undefined, 'default', 'unknown', '../acme'])
      expect(reasonOf(await verify(await own.sign({ tenant })))).toContain('The token is not accepted');
  });

  it('is refused if it has expired, or a secret has signed it under the name of the key', async () => {
    const verify = chainOf();
    const expired = await own.sign({ tenant: 'acme', exp: NOW_SECONDS - 60 });
    expect(reasonOf(await verify(expired))).toBe('The token has expired.');
    const forged = await signWith(JSON.stringify(own.jwk), { tenant: 'acme' }, { kid: '1' });
    expect(reasonOf(await verify(forged))).toContain('not');
  });

  it('is refused half a minute after its key was removed', async () => {
    const verify = chainOf();
    const token = await own.sign({ tenant: 'acme' });
    expect(await verify(token)).toMatchObject({ tenant: 'acme' });
    put({ name: 'acme' });
    expect(await verify(token)).toMatchObject({ tenant: 'acme' });
    clock.nowMs += 30_000;
    expect(reasonOf(await verify(token))).toContain('names no key of a tenant');
  });

  it('does not affect tokens of the owner, which go to the next authenticator, for every tenant', async () => {
    const verify = chainOf();
    expect(await verify(await signWith(SECRET, { tenant: 'acme' }))).toMatchObject({ source: 'jwt' });
    expect(await verify(await signWith(SECRET))).toMatchObject({ tenant: 'default' });
  });

  it('cannot be checked while the register is unavailable: 0x88', async () => {
    const verify = chainOf(() => Promise.reject(new Error('throttled')));
    expect(await verify(await own.sign({ tenant: 'acme' }))).toMatchObject({ refused: 0x88 });
    expect(await verify(await signWith(SECRET))).toMatchObject({ tenant: 'default' });
  });
});

describe('a tenant with an identity provider', () => {
  const server = new KeySetServer();
  afterEach(() => server.stop());

  it('accepts its tokens for itself only [SEC-TENANT-7]', async () => {
    const provider = await signer('ES256', 'p1');
    server.publish(provider);
    const jwksUrl = await server.start();
    put({ name: 'acme', provider: { jwksUrl, issuer: 'https://id.acme', audience: ['mqtt'] } });
    put({ name: 'other', keys: [own.jwk] });
    const verify = chainOf();
    const claims = { iss: 'https://id.acme', aud: 'mqtt' };
    expect(await verify(await provider.sign({ tenant: 'acme', ...claims }))).toMatchObject({
      tenant: 'acme',
      name: 'ada',
    });
    expect(reasonOf(await verify(await provider.sign({ tenant: 'acme', ...claims, aud: 'x' })))).toContain(
      '"aud"',
    );
    expect(reasonOf(await verify(await provider.sign({ tenant: 'other', ...claims })))).toContain(
      'names no key of a tenant',
    );
  });
});

describe('the plan of a tenant [SEC-TENANT-8]', () => {
  const plan = { connectionsMax: 3, publishesPerSecondMax: 5 };

  it('applies to each identity of it, also if the owner of the broker has signed its token', async () => {
    put({ name: 'acme', keys: [own.jwk], plan });
    const verify = chainOf();
    expect(await verify(await own.sign({ tenant: 'acme' }))).toMatchObject({ plan });
    expect(await verify(await signWith(SECRET, { tenant: 'acme' }))).toMatchObject({ plan });
    expect(((await verify(await signWith(SECRET, { tenant: 'other' }))) as Identity).plan).toBeUndefined();
  });

  it('is read once in half a minute, and never for the default tenant', async () => {
    put({ name: 'acme', plan });
    const verify = chainOf();
    for (let index = 0; index < 3; index += 1) {
      await verify(await signWith(SECRET));
      await verify(await signWith(SECRET, { tenant: 'acme' }));
      await verify(await signWith(SECRET, { tenant: 'unregistered' }));
    }
    expect(reads).toEqual(['acme', 'unregistered']);
    clock.nowMs += 30_000;
    put({ name: 'acme', plan: { connectionsMax: 4 } });
    expect(await verify(await signWith(SECRET, { tenant: 'acme' }))).toMatchObject({
      plan: { connectionsMax: 4 },
    });
  });
});

it('a configuration with tenants needs a register', () => {
  const context = { clock, log: LOG, limiter: new GuessLimiter(clock) };
  expect(() => createChain(readIdentity({ authenticators: [{ tenants: {} }] }, 'identity'), context)).toThrow(
    '--tenants FILE',
  );
});
