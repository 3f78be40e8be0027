import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword, mintToken, readIdentity } from '@apus/identity';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { type Fields, usePeers } from './raw/peers.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const API_KEY = 'k'.repeat(40);
const ISSUER = 'https://id.example';
const POOL = 'eu-west-1_AbCdEfGhI';
/** Each of the identities may publish below its own name. */
const RULES = { publish: ['of/%u'], subscribe: [] };

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

ownDoor(`one chain of authenticators (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const provider = await startProvider();
  const directory = mkdtempSync(join(tmpdir(), 'apus-identity-'));
  const file = join(directory, 'users.json');
  const password = await hashPassword(Buffer.from('correct horse'));
  writeFileSync(file, JSON.stringify({ users: [{ name: 'ada', password, ...RULES }] }));
  const key = { name: 'ada', sha256: createHash('sha256').update(API_KEY).digest('hex'), ...RULES };
  const identity = readIdentity(
    {
      authenticators: [
        { jwt: { secret: SECRET, defaultRules: RULES } },
        {
          jwt: {
            name: 'provider',
            jwksUrl: `${provider.url}/jwks.json`,
            issuer: ISSUER,
            audience: 'apus',
            defaultRules: RULES,
          },
        },
        {
          cognito: {
            region: 'eu-west-1',
            userPoolId: POOL,
            clientIds: ['app'],
            endpoint: provider.url,
            defaultRules: RULES,
          },
        },
        { apiKeys: { keys: [key] } },
        { users: { file } },
      ],
    },
    'identity',
  );
  const peers = usePeers({ identity });
  const clients: RawClient[] = [];
  afterAll(() => {
    for (const client of clients) client.close();
    provider.stop();
    rmSync(directory, { recursive: true });
  });

  async function connect(fields: Fields, query = '', headers: Record<string, string> = {}) {
    const url = `${peers.url()}${query}`;
    const outcome = await RawClient.connect(url, { clientId: unique('c'), ...fields }, headers);
    clients.push(outcome.client);
    return outcome;
  }
  const inQuery = (token: string) => connect({}, `?token=${token}`);
  const inHeader = (token: string) => connect({}, '', { Authorization: `Bearer ${token}` });
  const inPassword = (token: string) => connect({ username: 'ada', password: token });

  const minted = () =>
    mintToken(Buffer.from(SECRET), { sub: 'ada', expiresInSeconds: 600, nowMs: Date.now() });
  const provided = () => provider.sign({ iss: ISSUER, aud: 'apus' });
  const pooled = () =>
    provider.sign({ iss: `${provider.url}/${POOL}`, token_use: 'access', client_id: 'app' });

  async function publishes(client: RawClient, topic: string): Promise<number> {
    client.send({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1 });
    return (await client.expect('puback')).reasonCode as number;
  }

  const KINDS = [
    ['a token that a secret signed', minted],
    ["a token of an identity provider's", provided],
    ['an access token of Amazon Cognito', pooled],
    ['an API key', async () => API_KEY],
  ] as const;
  const PLACES = [
    ['in the query', inQuery],
    ['in the header Authorization', inHeader],
    ['as MQTT password', inPassword],
  ] as const;

  describe.each(KINDS)('%s', (_kind, makeToken) => {
    it.each(PLACES)('%s lets the client in under its name', async (_place, show) => {
      const { client, connack } = await show(await makeToken());
      expect(connack.reasonCode).toBe(0);
      expect(await publishes(client, 'of/ada')).toBe(0x10);
      expect(await publishes(client, 'of/bob')).toBe(0x87);
    });

    it('that was changed is refused: HTTP 403 in the handshake, 0x86 or 0x87 in CONNECT', async () => {
      const token = await makeToken();
      const changed = `${token.slice(0, -5)}AAAAA`;
      await expect(inQuery(changed)).rejects.toThrow('403');
      await expect(inHeader(changed)).rejects.toThrow('403');
      expect([0x86, 0x87]).toContain((await inPassword(changed)).connack.reasonCode);
      const old = await connect({ username: 'ada', password: changed, protocolVersion: 4 });
      expect([4, 5]).toContain(old.connack.returnCode);
    });
  });

  it('a user with a password is let in under the name in the file', async () => {
    const { client, connack } = await connect({ username: 'ada', password: 'correct horse' });
    expect(connack.reasonCode).toBe(0);
    expect(await publishes(client, 'of/ada')).toBe(0x10);
    expect(await publishes(client, 'of/bob')).toBe(0x87);
    expect((await connect({ username: 'ada', password: 'wrong' })).connack.reasonCode).toBe(0x86);
    expect((await connect({ username: 'bob', password: 'wrong' })).connack.reasonCode).toBe(0x86);
  });

  it('a session belongs to the same owner, by token or by password [SEC-TOKEN-5]', async () => {
    const clientId = unique('ada-');
    const stays = {
      clientId,
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    };
    const own = { ...stays, clientId: `ada-${clientId}` };
    const first = await connect(own, `?token=${await minted()}`);
    expect(first.connack.reasonCode).toBe(0);
    for (const show of [await provided(), await pooled(), API_KEY]) {
      expect((await connect(own, `?token=${show}`)).connack).toMatchObject({
        reasonCode: 0,
        sessionPresent: true,
      });
    }
    const user = await connect({ ...own, username: 'ada', password: 'correct horse' });
    expect(user.connack).toMatchObject({ reasonCode: 0, sessionPresent: true });
    const claims = { sub: 'bob', clientIds: ['+'], expiresInSeconds: 600, nowMs: Date.now() };
    const bob = await mintToken(Buffer.from(SECRET), claims);
    expect((await connect(own, `?token=${bob}`)).connack.reasonCode).toBe(0x87);
  });

  it('an identity of the handshake stands, and CONNECT does not change it', async () => {
    const fields = { username: 'bob', password: 'wrong' };
    const { client, connack } = await connect(fields, `?token=${await minted()}`);
    expect(connack.reasonCode).toBe(0);
    expect(await publishes(client, 'of/ada')).toBe(0x10);
  });

  it('a client without credentials is refused with 0x87', async () => {
    expect((await connect({})).connack.reasonCode).toBe(0x87);
  });

  it('a token in a cookie is ignored, as the configuration names no cookie', async () => {
    const { connack } = await connect({}, '', { Cookie: `token=${await minted()}` });
    expect(connack.reasonCode).toBe(0x87);
  });

  it('a token renews an identity with AUTH, and another one is refused', async () => {
    const properties = {
      authenticationMethod: 'OAUTH2-JWT',
      authenticationData: Buffer.from(await minted()),
    };
    const { client, connack } = await connect({ properties });
    expect(connack.reasonCode).toBe(0);
    client.send({
      cmd: 'auth',
      reasonCode: 0x19,
      properties: { ...properties, authenticationData: Buffer.from(await provided()) },
    });
    expect((await client.expect('auth')).reasonCode).toBe(0);
  });

  describe.each([
    ['in the query', (token: string, fields: Fields) => connect(fields, `?token=${token}`)],
    [
      'in the header Authorization',
      (token: string, fields: Fields) => connect(fields, '', { Authorization: `Bearer ${token}` }),
    ],
  ])('an identity of a token that the handshake showed %s', (_place, show) => {
    const named = { properties: { authenticationMethod: 'OAUTH2-JWT' } };
    const auth = (token: string) => ({
      ...{ cmd: 'auth', reasonCode: 0x19 },
      properties: { ...named.properties, authenticationData: Buffer.from(token) },
    });
    const tokenOf = (sub: string, claims: object = {}) =>
      mintToken(Buffer.from(SECRET), { sub, expiresInSeconds: 600, nowMs: Date.now(), ...claims });

    it('is renewed by AUTH, and then has the rights of the new token [SEC-EXPIRY-3] [SEC-EXPIRY-4]', async () => {
      const { client, connack } = await show(await tokenOf('ada'), named);
      expect(connack).toMatchObject({ reasonCode: 0, properties: named.properties });
      client.send(auth(await tokenOf('ada', { publish: ['renewed'] })));
      expect(await client.expect('auth')).toMatchObject({ reasonCode: 0, properties: named.properties });
      expect(await publishes(client, 'renewed')).toBe(0x10);
      expect(await publishes(client, 'of/ada')).toBe(0x87);
    });

    it.each([
      ['another name', () => tokenOf('bob')],
      ['another tenant', () => tokenOf('ada', { tenant: 'other' })],
      ['a signature that is not ours', async () => `${(await tokenOf('ada')).slice(0, -5)}AAAAA`],
      ['an end that is past', () => tokenOf('ada', { nowMs: Date.now() - 3_600_000 })],
    ])('ends with 0x87 by a token of %s [SEC-EXPIRY-3] [MQTT-4.12.1-2]', async (_what, makeToken) => {
      const { client } = await show(await tokenOf('ada'), named);
      client.send(auth(await makeToken()));
      expect((await client.expect('disconnect')).reasonCode).toBe(0x87);
      await client.expectClose();
    });
  });

  async function startProvider() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' };
    const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      sign: (claims: Record<string, unknown>) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .setSubject('ada')
          .setExpirationTime('10m')
          .sign(privateKey),
      stop: () => server.close(),
    };
  }
});

ownDoor(`a cookie with a token (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const authenticators = [{ jwt: { secret: SECRET } }];
  const identity = readIdentity({ authenticators, cookie: 'session' }, 'identity');
  const peers = usePeers({ identity, allowedOrigins: ['https://app.example'] });
  const cookie = async () => {
    const token = await mintToken(Buffer.from(SECRET), {
      sub: 'ada',
      expiresInSeconds: 600,
      nowMs: Date.now(),
    });
    return `a=b; session=${token}; c=d`;
  };
  const connectFrom = async (Origin: string) =>
    await RawClient.connect(peers.url(), { clientId: unique('c') }, { Cookie: await cookie(), Origin });

  it('lets the page of a listed site in', async () => {
    const { client, connack } = await connectFrom('https://app.example');
    expect(connack.reasonCode).toBe(0);
    client.close();
  });

  it.each(['https://evil.example', 'http://127.0.0.1:8083', 'http://localhost', 'null'])(
    "does not let a page of %s in, in whose reader's name it would be [SEC-TOKEN-6]",
    async (origin) => {
      await expect(connectFrom(origin)).rejects.toThrow('403');
    },
  );
});
