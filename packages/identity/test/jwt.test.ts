import { rulesOfLists } from '@apus/broker';
import { exportSPKI, importJWK, type JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../src/index.ts';
import {
  chainOf,
  claimsWith,
  NOW_MS,
  NOW_SECONDS,
  reasonOf,
  SECRET,
  signer,
  signWith,
} from './support/tokens.ts';

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const bySecret = () => chainOf([{ jwt: { secret: SECRET } }]);

describe('a token that a secret signed', () => {
  it('names the identity, its rules, its key and when it ends', async () => {
    const token = await signWith(SECRET, {
      tenant: 'blue',
      publish: ['a/%u'],
      subscribe: ['a/#'],
      clientIds: ['%u-+'],
      quotas: { connectionsMax: 1 },
      iat: NOW_SECONDS - 10,
      jti: 'one',
    });
    expect(await bySecret().verify(token)).toEqual({
      tenant: 'blue',
      name: 'ada',
      rules: rulesOfLists(['a/%u'], ['a/#']),
      clientIds: ['%u-+'],
      quotas: { connectionsMax: 1 },
      expiresAtMs: NOW_MS + 3_600_000,
      issuedAtMs: NOW_MS - 10_000,
      tokenId: 'one',
      source: 'jwt',
    });
  });

  it('may come from `apus token`', async () => {
    const options = { sub: 'ada', expiresInSeconds: 60, nowMs: NOW_MS, clientIds: ['ada'] };
    const token = await mintToken(new TextEncoder().encode(SECRET), options);
    expect(await bySecret().verify(token)).toMatchObject({ name: 'ada', clientIds: ['ada'] });
  });

  it('is accepted as MQTT password too, under any user name', async () => {
    const { login } = bySecret();
    expect(await login('whoever', await signWith(SECRET))).toMatchObject({ name: 'ada' });
    expect(await login('ada', 'a password')).toMatchObject({ refused: 0x86 });
  });

  it('allows only what it names, unless the configuration allows more', async () => {
    expect(await bySecret().verify(await signWith(SECRET))).toMatchObject({ rules: rulesOfLists([], []) });
    const { verify } = chainOf([{ jwt: { secret: SECRET, defaultRules: { subscribe: ['news'] } } }]);
    expect(await verify(await signWith(SECRET))).toMatchObject({ rules: rulesOfLists([], ['news']) });
  });

  it('is signed with HS384 or HS512 only where the secret is long enough for it', async () => {
    const long = SECRET + SECRET;
    for (const alg of ['HS384', 'HS512']) {
      expect(
        await chainOf([{ jwt: { secret: long } }]).verify(await signWith(long, {}, { alg })),
      ).toMatchObject({
        name: 'ada',
      });
    }
    const short = await signWith(SECRET, {}, { alg: 'HS384' }).catch(() => undefined);
    if (short !== undefined) expect(await bySecret().verify(short)).toMatchObject({ refused: 0x87 });
  });

  it('names its subject in the configured claim, and its tenant in the configured claim or not at all', async () => {
    const token = await signWith(SECRET, { email: 'ada@example.com', tenant: 'blue', org: 'red' });
    const named = chainOf([{ jwt: { secret: SECRET, nameClaim: 'email', tenantClaim: 'org' } }]);
    expect(await named.verify(token)).toMatchObject({ name: 'ada@example.com', tenant: 'red' });
    const fixed = chainOf([{ jwt: { secret: SECRET, tenant: 'green' } }]);
    expect(await fixed.verify(token)).toMatchObject({ tenant: 'green' });
  });
});

describe('a token is refused', () => {
  it.each([
    ['that has expired', { exp: NOW_SECONDS - 6 }, 'The token has expired.'],
    ['that never expires', { exp: undefined }, 'missing required "exp" claim'],
    ['whose time has not come', { nbf: NOW_SECONDS + 60 }, '"nbf" claim timestamp check failed'],
    ['without a subject', { sub: undefined }, 'it has to name its subject ("sub")'],
    ['with an empty subject, which would be no name', { sub: '' }, 'it has to name its subject ("sub")'],
    ['with a subject that is no text', { sub: 7 as never }, 'jwt'],
    ['with one filter that is no list', { publish: 'a' }, ''],
    ['with a filter that is a number', { subscribe: [1] }, ''],
    ['with 101 filters', { publish: Array.from({ length: 101 }, () => 'a') }, '100'],
    ['with a tenant that is no name', { tenant: 'a b' }, '"tenant" must be a name'],
    ['with a tenant that is a number', { tenant: 7 }, '"tenant" must be a name'],
    ['with 17 patterns', { clientIds: Array.from({ length: 17 }, () => 'a') }, 'clientIds'],
    ['with a quota that there is not', { quotas: { connections: 1 } }, 'There is no quota "connections"'],
    ['with a quota below 0', { quotas: { connectionsMax: -1 } }, 'whole number from 0 up'],
    ['with quotas that are a list', { quotas: [1] }, 'have to be an object'],
    ['with an id of 257 characters', { jti: 'j'.repeat(257) }, '"jti" must be a text'],
    ['with a filter that is none', { publish: ['a/#/b'] }, 'publish[0]'],
    ['with a rule of EMQX that is none', { acl: { sub: ['a/#/b'] } }, 'acl.sub[0]'],
  ] as [string, JWTPayload, string][])('%s', async (_what, claims, sentence) => {
    const token = await signWith(SECRET, claims);
    const answer = await bySecret().verify(token);
    expect(answer).toMatchObject({ refused: 0x87 });
    if (sentence !== 'jwt') expect(reasonOf(answer)).toContain(sentence);
    expect(reasonOf(answer)).not.toContain(token.split('.')[1]);
  });

  it('that another secret signed, or that was changed', async () => {
    const token = await signWith(SECRET);
    const [header, , signature] = token.split('.');
    const changed = [header, base64url(claimsWith({ sub: 'root' })), signature].join('.');
    for (const each of [await signWith('another secret of 32 characters!'), changed]) {
      expect(await bySecret().verify(each)).toMatchObject({ refused: 0x87 });
    }
  });

  it.each(['none', 'None', 'NONE', ''])('that says its algorithm is "%s" [SEC-TOKEN-1]', async (alg) => {
    const token = `${base64url({ alg })}.${base64url(claimsWith({}))}.`;
    expect(await bySecret().verify(token)).toMatchObject({ refused: 0x87 });
  });

  it('that a public key signed as if it were a secret [SEC-TOKEN-1]', async () => {
    const rsa = await signer('RS256', 'one');
    const pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as CryptoKey);
    const { verify } = chainOf([{ jwt: { keys: [rsa.jwk, { pem }] } }]);
    expect(await verify(await rsa.sign())).toMatchObject({ name: 'ada' });
    for (const secret of [pem, pem.trim(), JSON.stringify(rsa.jwk)]) {
      expect(await verify(await signWith(secret, {}, { kid: 'one' }))).toMatchObject({ refused: 0x87 });
    }
    expect(() => chainOf([{ jwt: { secret: pem } }])).toThrow('anybody could sign with it');
  });

  it('that brings its own key, or names where to fetch it [SEC-TOKEN-1]', async () => {
    const mine = await signer('RS256', 'mine');
    const theirs = await signer('RS256', 'theirs');
    const { verify } = chainOf([{ jwt: { keys: [theirs.jwk] } }]);
    for (const header of [{ jwk: mine.jwk }, { jku: 'http://127.0.0.1:1/' }, { kid: 'theirs' }]) {
      expect(await verify(await mine.sign({}, header))).toMatchObject({ refused: 0x87 });
    }
  });

  it('that asks for an extension which is not understood', async () => {
    const { verify } = bySecret();
    const header = base64url({ alg: 'HS256', crit: ['b64'], b64: false });
    const [, payload, signature] = (await signWith(SECRET)).split('.');
    expect(await verify([header, payload, signature].join('.'))).toMatchObject({ refused: 0x87 });
  });

  it.each([
    ['is huge', 'x'.repeat(1_000_000)],
    ['is a huge token', `${base64url({ alg: 'HS256' })}.${'A'.repeat(10_000)}.AAAA`],
    ['is no token', 'hello'],
    ['has a header that is no JSON', 'AAAA.AAAA.AAAA'],
    ['has a header that is null', `${Buffer.from('null').toString('base64url')}.e30.AAAA`],
    ['has five parts, as an encrypted one', 'e30.e30.e30.e30.e30'],
    ['is one with line breaks', 'e30.\ne30.e30'],
  ])('that %s', async (_what, token) => {
    expect(await bySecret().verify(token)).toMatchObject({ refused: 0x87 });
  });
});

describe('a token with rules of its own', () => {
  const defaultRules = { publish: ['default'], subscribe: ['default'] };
  const { verify } = chainOf([{ jwt: { secret: SECRET, defaultRules } }]);
  const deny = { effect: 'deny', action: 'publish', topicFilters: ['a/secret'] } as const;

  it('has `rules`, then `acl`, then the lists, and nothing of the default', async () => {
    const token = await signWith(SECRET, { rules: [deny], acl: { all: ['b/#'] }, publish: ['a/#'] });
    expect(await verify(token)).toMatchObject({
      rules: [deny, { effect: 'allow', action: 'all', topicFilters: ['b/#'] }, ...rulesOfLists(['a/#'], [])],
    });
  });

  it('of one list has the default for the other', async () => {
    const token = await signWith(SECRET, { publish: ['a/#'] });
    expect(await verify(token)).toMatchObject({ rules: rulesOfLists(['a/#'], ['default']) });
  });
});

describe('two secrets at the same time', () => {
  const [former, newer] = [SECRET, SECRET.toUpperCase()];
  const secrets = [
    { kid: '2', secret: newer },
    { kid: '1', secret: former },
  ];

  it('are told apart by the kid of the token, which the identity remembers', async () => {
    const { verify } = chainOf([{ jwt: { secrets } }]);
    expect(await verify(await signWith(newer, {}, { kid: '2' }))).toMatchObject({ keyId: '2' });
    expect(await verify(await signWith(former, {}, { kid: '1' }))).toMatchObject({ keyId: '1' });
    expect(await verify(await signWith(former, {}, { kid: '2' }))).toMatchObject({ refused: 0x87 });
    expect(await verify(await signWith(former, {}, { kid: '3' }))).toMatchObject({ refused: 0x87 });
  });

  it('accept a token without a kid, from a time when there was one secret', async () => {
    const { verify } = chainOf([{ jwt: { secrets } }]);
    expect(await verify(await signWith(former))).toMatchObject({ name: 'ada' });
  });

  it('take effect without a restart: an unknown kid makes the process read the secret again, at most once in ten seconds [SEC-TOKEN-2] [SEC-TOKEN-7]', async () => {
    let stored = former;
    let reads = 0;
    const read = async () => {
      reads += 1;
      return stored;
    };
    const { verify, clock } = withClock(read);
    expect(await verify(await signWith(former))).toMatchObject({ name: 'ada' });
    stored = JSON.stringify(secrets);
    const token = await signWith(newer, {}, { kid: '2' });
    expect(await verify(token)).toMatchObject({ refused: 0x87 });
    clock.nowMs += 10_000;
    expect(await verify(token)).toMatchObject({ keyId: '2' });
    expect(await verify(await signWith(former))).toMatchObject({ name: 'ada' });
    expect(reads).toBe(2);
    for (let index = 0; index < 100; index += 1) {
      expect(await verify(await signWith(former, {}, { kid: `made up ${index}` }))).toMatchObject({
        refused: 0x87,
      });
    }
    expect(reads).toBe(2);
  });

  it('end: a removed secret is refused five minutes later [SEC-TOKEN-7]', async () => {
    let stored = JSON.stringify(secrets);
    const { verify, clock } = withClock(async () => stored);
    const token = await signWith(former, {}, { kid: '1' });
    expect(await verify(token)).toMatchObject({ keyId: '1' });
    stored = JSON.stringify(secrets.slice(0, 1));
    clock.nowMs += 5 * 60_000;
    expect(await verify(token)).toMatchObject({ refused: 0x87 });
  });

  it('may be unreadable: a client is told to come again, and the log does not quote a secret', async () => {
    const { verify, logged } = withClock(async () => '[{"kid": "1", "secret": "too short"}]');
    expect(await verify(await signWith(former))).toMatchObject({ refused: 0x88 });
    expect(JSON.stringify(logged)).toContain('keys-unavailable');
    expect(JSON.stringify(logged)).not.toContain('too short"');
  });

  function withClock(read: () => Promise<string>) {
    const clock = { nowMs: NOW_MS, now: () => clock.nowMs };
    return { ...chainOf([{ jwt: { secretArn: 'arn' } }], clock, read), clock };
  }
});

describe('a token that a private key signed', () => {
  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    '(%s) is verified with the public key, as JWK and as PEM',
    async (alg) => {
      const { jwk, sign } = await signer(alg, 'one');
      const pem = await exportSPKI((await importJWK(jwk, alg)) as CryptoKey);
      for (const key of [jwk, { pem }, { kid: 'one', pem, alg }]) {
        const { verify } = chainOf([{ jwt: { keys: [key] } }]);
        expect(await verify(await sign())).toMatchObject({ name: 'ada', keyId: 'one' });
        const other = await signer(alg, 'one');
        expect(await verify(await other.sign())).toMatchObject({ refused: 0x87 });
      }
    },
  );

  it('is accepted only with the algorithm of its key, if the key names one', async () => {
    const { jwk, sign } = await signer('RS256', 'one');
    const { verify } = chainOf([{ jwt: { keys: [{ ...jwk, alg: 'PS256' }] } }]);
    expect(await verify(await sign())).toMatchObject({ refused: 0x87 });
  });
});
