import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import {
  claimsAuthorizer,
  handleConnect,
  JwtVerifier,
  keySetCheck,
  mintToken,
  secretCheck,
  tokenAuthenticator,
} from '../src/index.ts';
import { secretReader } from '../src/lambda/index.ts';

const SECRET = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
const HOUR = 3_600;
const verifier = new JwtVerifier({ tenant: 'default', check: secretCheck(async () => SECRET) });
const minted = (changes: object = {}) =>
  mintToken(SECRET, { sub: 'ada', expiresInSeconds: HOUR, nowMs: Date.now(), ...changes });

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

describe('a token that the deployment signed', () => {
  it('names the identity and its filters', async () => {
    const token = await minted({ tenant: 'blue', publish: ['a/%u'], subscribe: ['a/#'] });
    expect(await verifier.verify(token)).toEqual({
      tenant: 'blue',
      name: 'ada',
      claims: { publish: ['a/%u'], subscribe: ['a/#'] },
    });
  });

  it('allows nothing that it does not name', async () => {
    const identity = await verifier.verify(await minted());
    if ('refused' in identity) throw new Error(identity.reason);
    expect(claimsAuthorizer.mayPublish(identity, 'c', 'a')).toBe(false);
    expect(claimsAuthorizer.maySubscribe(identity, 'c', 'a')).toBe(false);
  });

  it('decides by the same matcher as routing', async () => {
    const identity = await verifier.verify(await minted({ publish: ['a/%u/+'], subscribe: ['b/#'] }));
    if ('refused' in identity) throw new Error(identity.reason);
    expect(claimsAuthorizer.mayPublish(identity, 'c', 'a/ada/x')).toBe(true);
    expect(claimsAuthorizer.mayPublish(identity, 'c', 'a/bob/x')).toBe(false);
    expect(claimsAuthorizer.mayPublish(identity, 'c', 'a/ada/x/y')).toBe(false);
    expect(claimsAuthorizer.maySubscribe(identity, 'c', 'b/+/c')).toBe(true);
    expect(claimsAuthorizer.maySubscribe(identity, 'c', '#')).toBe(false);
  });

  it.each([
    ['none at all', undefined, 'missing'],
    ['an empty one', '', 'missing'],
    ['no JWT', 'hello', 'invalid'],
    ['one that is too long', 'x'.repeat(10_000), 'invalid'],
  ])('%s is refused', async (_what, token, refused) => {
    expect(await verifier.verify(token)).toMatchObject({ refused });
  });

  it('is refused once it has expired, and not before', async () => {
    expect(await verifier.verify(await minted({ nowMs: Date.now() - 2 * HOUR * 1000 }))).toMatchObject({
      refused: 'expired',
    });
  });

  it('is refused when another secret signed it, when it never expires, and without a signature', async () => {
    const other = await mintToken(new TextEncoder().encode('another secret of thirty-two byte'), {
      sub: 'ada',
      expiresInSeconds: HOUR,
      nowMs: Date.now(),
    });
    const eternal = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).setSubject('ada').sign(SECRET);
    const [, body] = (await minted()).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [other, eternal, `${none}.${body}.`]) {
      expect(await verifier.verify(token)).toMatchObject({ refused: 'invalid' });
    }
  });

  it.each([
    [{ publish: 'a' }],
    [{ subscribe: [1] }],
    [{ publish: Array.from({ length: 101 }, () => 'a') }],
    [{ tenant: 'a b' }],
    [{ tenant: 7 }],
  ])('with claims that make no sense is refused: %j', async (claims) => {
    expect(await verifier.verify(await minted(claims))).toMatchObject({ refused: 'invalid' });
  });
});

describe('a token of an identity provider', () => {
  async function provider() {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
    const sign = (issuer: string, audience: string) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setSubject('ada')
        .setIssuer(issuer)
        .setAudience(audience)
        .setExpirationTime('1h')
        .sign(privateKey);
    return { url, sign };
  }

  it('is checked by its keys, issuer and audience, and gets the default rules', async () => {
    const { url, sign } = await provider();
    const rules = { publish: [], subscribe: ['news/#'] };
    const check = keySetCheck({ url, issuer: 'https://id', audience: 'apus' });
    const verify = new JwtVerifier({ tenant: 'default', rules, check });
    expect(await verify.verify(await sign('https://id', 'apus'))).toEqual({
      tenant: 'default',
      name: 'ada',
      claims: rules,
    });
    expect(await verify.verify(await sign('https://other', 'apus'))).toMatchObject({ refused: 'invalid' });
    expect(await verify.verify(await sign('https://id', 'other'))).toMatchObject({ refused: 'invalid' });
    // The secret of a deployment that uses HS256 is no key here.
    expect(await verify.verify(await minted())).toMatchObject({ refused: 'invalid' });
  });
});

describe('the secret', () => {
  const reader = (answers: (string | Error)[]) =>
    secretReader(
      {
        send: async () => {
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          return { SecretString: answer };
        },
      } as never,
      'arn',
    );

  it('is read once, and again only after a failure', async () => {
    const read = reader([new Error('throttled'), 'x'.repeat(32)]);
    await expect(read()).rejects.toThrow('throttled');
    expect(await read()).toHaveLength(32);
    expect(await read()).toHaveLength(32);
  });

  it('is refused when it is too short to be safe', async () => {
    await expect(reader(['short'])()).rejects.toThrow('HS256 needs at least 32');
  });
});

describe('$connect', () => {
  const event = (token?: string) => ({
    headers: { 'Sec-WebSocket-Protocol': 'mqtt-text-v1' },
    queryStringParameters: token === undefined ? null : { token },
    requestContext: { connectionId: 'c1' } as never,
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };

  it('refuses a handshake without a valid token, and stores who the token names', async () => {
    const saved: unknown[] = [];
    const links = {
      load: () => undefined,
      end: () => undefined,
      save: (...call: unknown[]) => {
        saved.push(call);
        return true;
      },
    };
    const options = { links, tokens: verifier, log };
    expect(await handleConnect(options, event())).toMatchObject({ statusCode: 401 });
    expect(await handleConnect(options, event('hello'))).toMatchObject({ statusCode: 403 });
    expect(saved).toEqual([]);
    expect(await handleConnect(options, event(await minted()))).toMatchObject({ statusCode: 200 });
    const identity = { tenant: 'default', name: 'ada', claims: { publish: [], subscribe: [] } };
    expect(saved).toEqual([['c1', { phase: 'new', identity }]]);
  });

  it('an identity is what the handshake verified, whatever CONNECT says', () => {
    const credentials = { clientId: 'c', username: 'eve', password: undefined };
    const identity = { tenant: 'default', name: 'ada' };
    expect(tokenAuthenticator.authenticate({ ...credentials, peer: { address: '', identity } })).toBe(
      identity,
    );
    expect(tokenAuthenticator.authenticate({ ...credentials, peer: { address: '' } })).toMatchObject({
      refused: 0x87,
    });
  });
});
