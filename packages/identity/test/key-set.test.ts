import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainOf, KeySetServer, NOW_MS, reasonOf, SECRET, signer, signWith } from './support/tokens.ts';

const ISSUER = 'https://id.example';
const AUDIENCE = 'apus';
const CLAIMS = { iss: ISSUER, aud: AUDIENCE };

const one = await signer('RS256', 'one');
let server: KeySetServer;
let url: string;
beforeEach(async () => {
  server = new KeySetServer();
  server.publish(one);
  url = `${await server.start()}/jwks.json`;
});
afterEach(() => server.stop());

function provider() {
  const clock = {
    nowMs: NOW_MS,
    steppedMs: 0,
    now: () => clock.nowMs + clock.steppedMs,
    steady: () => clock.nowMs,
  };
  return { ...chainOf([{ jwt: { jwksUrl: url, issuer: ISSUER, audience: AUDIENCE } }], clock), clock };
}

describe('a token of an identity provider', () => {
  it('is verified with its published keys, which are fetched once', async () => {
    const { verify } = provider();
    expect(server.requests).toBe(0);
    const token = await one.sign(CLAIMS);
    expect(await Promise.all([verify(token), verify(token)])).toMatchObject([
      { name: 'ada' },
      { name: 'ada' },
    ]);
    expect(await verify(token)).toMatchObject({ keyId: 'one' });
    expect(server.requests).toBe(1);
  });

  it.each([
    [
      'names another issuer',
      { ...CLAIMS, iss: 'https://evil.example' },
      'its issuer is not https://id.example',
    ],
    ['names no issuer', { aud: AUDIENCE }, 'its issuer is not https://id.example'],
    ['is for somebody else', { ...CLAIMS, aud: 'shop' }, 'unexpected "aud" claim value'],
    ['is for no audience', { iss: ISSUER }, 'missing required "aud" claim'],
  ])('is refused when it %s [SEC-TOKEN-3]', async (_what, claims, sentence) => {
    const { verify } = provider();
    expect(await verify(await one.sign(CLAIMS))).toMatchObject({ name: 'ada' });
    const answer = await verify(await one.sign(claims));
    expect(answer).toMatchObject({ refused: 0x87 });
    expect(reasonOf(answer)).toContain(sentence);
  });

  it('may have several audiences', async () => {
    const { verify } = provider();
    expect(await verify(await one.sign({ ...CLAIMS, aud: ['shop', AUDIENCE] }))).toMatchObject({
      name: 'ada',
    });
  });

  it('is refused if a secret signed it, even if the key set has such a key', async () => {
    const oct = { kty: 'oct', kid: 'oct', alg: 'HS256', k: Buffer.from(SECRET).toString('base64url') };
    server.answer = { body: JSON.stringify({ keys: [oct, one.jwk] }) };
    const { verify } = provider();
    expect(await verify(await signWith(SECRET, CLAIMS, { kid: 'oct' }))).toMatchObject({ refused: 0x87 });
    expect(await verify(await one.sign(CLAIMS))).toMatchObject({ name: 'ada' });
  });

  it('is refused if a key for encryption signed it', async () => {
    server.answer = { body: JSON.stringify({ keys: [{ ...one.jwk, use: 'enc' }] }) };
    expect(await provider().verify(await one.sign(CLAIMS))).toMatchObject({ refused: 0x87 });
  });
});

describe('keys of a provider', () => {
  it('rotate: an unknown kid makes the process fetch them again, half a minute later at the earliest', async () => {
    const { verify, clock } = provider();
    expect(await verify(await one.sign(CLAIMS))).toMatchObject({ keyId: 'one' });
    const two = await signer('ES256', 'two');
    server.publish(one, two);
    clock.nowMs += 29_999;
    expect(await verify(await two.sign(CLAIMS))).toMatchObject({ refused: 0x87 });
    clock.nowMs += 1;
    expect(await verify(await two.sign(CLAIMS))).toMatchObject({ keyId: 'two' });
    expect(server.requests).toBe(2);
  });

  it('are not fetched for each of a thousand tokens with invented kids [SEC-TOKEN-2]', async () => {
    const { verify } = provider();
    const evil = await signer('RS256');
    const tokens = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => evil.sign(CLAIMS, { kid: `made up ${index}` })),
    );
    const answers = await Promise.all(tokens.map(verify));
    expect(new Set(answers.map((answer) => 'refused' in answer && answer.refused))).toEqual(new Set([0x87]));
    expect(server.requests).toBeLessThanOrEqual(2);
  });

  it('are not fetched again for a bad signature under a kid that is known', async () => {
    const { verify, clock } = provider();
    await verify(await one.sign(CLAIMS));
    clock.nowMs += 60_000;
    const evil = await signer('RS256', 'one');
    expect(await verify(await evil.sign(CLAIMS))).toMatchObject({ refused: 0x87 });
    expect(server.requests).toBe(1);
  });

  it('are refused ten minutes after they were withdrawn', async () => {
    const { verify, clock } = provider();
    const token = await one.sign(CLAIMS);
    expect(await verify(token)).toMatchObject({ keyId: 'one' });
    server.publish(await signer('ES256', 'two'));
    clock.nowMs += 10 * 60_000;
    expect(await verify(token)).toMatchObject({ refused: 0x87 });
  });

  it('are refused as soon where the wall clock goes back', async () => {
    const { verify, clock } = provider();
    const token = await one.sign(CLAIMS);
    expect(await verify(token)).toMatchObject({ keyId: 'one' });
    server.publish(await signer('ES256', 'two'));
    clock.steppedMs = -3_600_000;
    clock.nowMs += 10 * 60_000;
    expect(await verify(token)).toMatchObject({ refused: 0x87 });
  });

  it('stay in use for a day while the provider is unavailable; then a client is told to try again later', async () => {
    const { verify, clock, logged } = provider();
    const token = await one.sign({ ...CLAIMS, exp: NOW_MS / 1000 + 3 * 86_400 });
    expect(await verify(token)).toMatchObject({ name: 'ada' });
    server.answer = { status: 500, body: 'out of order' };
    clock.nowMs += 3_600_000;
    expect(await verify(token)).toMatchObject({ name: 'ada' });
    clock.nowMs += 23 * 3_600_000;
    expect(await verify(token)).toMatchObject({ refused: 0x88 });
    expect(logged).toContainEqual([
      'keys-unavailable',
      { source: 'jwt', reason: expect.stringContaining('answered 500') },
    ]);
  });

  it.each([
    ['an error', { status: 503, body: '' }],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }],
    ['no JSON', { body: 'hello' }],
    ['no key set', { body: '{"keys": 7}' }],
    ['more than 256 KB', { body: `{"keys": [], "x": "${'x'.repeat(256 * 1024)}"}` }],
  ])(
    'are unavailable when the provider answers with %s, and are requested at most every two seconds',
    async (_what, answer) => {
      server.answer = answer;
      const { verify, clock } = provider();
      const token = await one.sign(CLAIMS);
      for (let index = 0; index < 10; index += 1)
        expect(await verify(token)).toMatchObject({ refused: 0x88 });
      expect(server.requests).toBe(1);
      server.publish(one);
      clock.nowMs += 2_000;
      expect(await verify(token)).toMatchObject({ name: 'ada' });
    },
  );
});

describe('an Amazon Cognito user pool', () => {
  const POOL = 'eu-west-1_AbCdEfGhI';
  const cognito = (more: object = {}) => ({
    cognito: {
      region: 'eu-west-1',
      userPoolId: POOL,
      clientIds: ['app-one', 'app-two'],
      endpoint: new URL(url).origin,
      ...more,
    },
  });
  const iss = () => `${new URL(url).origin}/${POOL}`;
  const access = (claims: object = {}) =>
    one.sign({ iss: iss(), token_use: 'access', client_id: 'app-two', username: 'ada.l', ...claims });
  const id = (claims: object = {}) => one.sign({ iss: iss(), token_use: 'id', aud: 'app-one', ...claims });

  it('authenticates by access tokens, in which client_id takes the place of the audience [SEC-TOKEN-4]', async () => {
    const { verify } = chainOf([cognito()]);
    expect(await verify(await access())).toMatchObject({ name: 'ada', source: 'cognito' });
    expect(reasonOf(await verify(await access({ client_id: 'app-three' })))).toContain(
      'none of the app clients',
    );
    expect(reasonOf(await verify(await access({ client_id: undefined, aud: 'app-one' })))).toContain(
      'none of the app',
    );
  });

  it('has its id tokens accepted only if the configuration says so [SEC-TOKEN-4]', async () => {
    expect(reasonOf(await chainOf([cognito()]).verify(await id()))).toContain('"token_use" is not "access"');
    const { verify } = chainOf([cognito({ tokenUse: 'id' })]);
    expect(await verify(await id())).toMatchObject({ name: 'ada' });
    expect(reasonOf(await verify(await id({ aud: 'app-three', client_id: 'app-one' })))).toContain(
      'none of the app',
    );
    expect(reasonOf(await verify(await access()))).toContain('"token_use" is not "id"');
    const either = chainOf([cognito({ tokenUse: 'either', nameClaim: 'username' })]);
    expect(await either.verify(await access())).toMatchObject({ name: 'ada.l' });
    expect(reasonOf(await either.verify(await access({ token_use: undefined })))).toContain(
      'neither "access" nor "id"',
    );
  });

  it('is told from another pool of the same Region', async () => {
    const { verify } = chainOf([cognito()]);
    const other = await access({ iss: `${new URL(url).origin}/eu-west-1_Other` });
    expect(reasonOf(await verify(other))).toContain('its issuer is not');
  });

  it('needs only its Region and its id in the configuration', () => {
    expect(() =>
      chainOf([{ cognito: { region: 'eu-west-1', userPoolId: POOL, clientIds: ['a'] } }]),
    ).not.toThrow();
    expect(() => chainOf([cognito({ userPoolId: 'us-east-1_A' })])).toThrow('begins with its Region');
    expect(() => chainOf([cognito({ clientIds: undefined })])).toThrow('every app client of the pool');
    expect(() => chainOf([cognito({ clientIds: [] })])).toThrow('with at least one');
  });
});
