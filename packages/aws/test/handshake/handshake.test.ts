import { rulesOfLists } from '@apus/broker';
import {
  createChain,
  GuessLimiter,
  Handshakes,
  handshakeAuthenticator,
  mintToken,
  readIdentity,
} from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { handleConnect } from '../../src/index.ts';
import { secretReader } from '../../src/lambda/index.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const clock = { now: () => Date.now() };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const minted = () =>
  mintToken(new TextEncoder().encode(SECRET), { sub: 'ada', expiresInSeconds: 3_600, nowMs: Date.now() });

function handshakesFor(configuration: object, readSecret = async () => SECRET): Handshakes {
  const identity = readIdentity(
    { authenticators: [{ jwt: { secretArn: 'arn' } }], ...configuration },
    'identity',
  );
  const chain = createChain(identity, { clock, log, limiter: new GuessLimiter(clock), readSecret });
  return new Handshakes({ chain, cookie: identity.cookie, allowsPassword: identity.mqttPassword });
}

describe('$connect', () => {
  const event = (token?: string, headers: object = {}) => ({
    headers: { 'Sec-WebSocket-Protocol': 'mqtt-text-v1', ...headers },
    queryStringParameters: token === undefined ? null : { token },
    requestContext: { connectionId: 'c1' } as never,
  });
  function world(configuration: object = {}, readSecret?: () => Promise<string>) {
    const saved: unknown[] = [];
    const links = {
      load: () => undefined,
      end: () => undefined,
      save: (...call: unknown[]) => {
        saved.push(call);
        return true;
      },
    };
    return { saved, options: { links, handshakes: handshakesFor(configuration, readSecret), log } };
  }

  it('refuses a handshake without a valid token, and stores the identity of the token', async () => {
    const { options, saved } = world();
    expect(await handleConnect(options, event())).toMatchObject({ statusCode: 401 });
    expect(await handleConnect(options, event(''))).toMatchObject({ statusCode: 401 });
    expect(await handleConnect(options, event('hello'))).toMatchObject({ statusCode: 403 });
    expect(saved).toEqual([]);
    expect(await handleConnect(options, event(await minted()))).toMatchObject({ statusCode: 200 });
    const identity = expect.objectContaining({ name: 'ada', source: 'jwt', rules: rulesOfLists([], []) });
    expect(saved).toEqual([['c1', { phase: 'new', identity }]]);
  });

  it('takes the token from the header Authorization as well, in any spelling of its name', async () => {
    const { options } = world();
    const headers = { AUTHORIZATION: `Bearer ${await minted()}` };
    expect(await handleConnect(options, event(undefined, headers))).toMatchObject({ statusCode: 200 });
  });

  it('takes it from a cookie only where the configuration names one', async () => {
    const headers = { cookie: `a=b; session=${await minted()}` };
    expect(await handleConnect(world().options, event(undefined, headers))).toMatchObject({
      statusCode: 401,
    });
    const { options } = world({ cookie: 'session' });
    expect(await handleConnect(options, event(undefined, headers))).toMatchObject({ statusCode: 200 });
  });

  it('answers 503 while the secret cannot be read', async () => {
    const { options } = world({}, () => Promise.reject(new Error('throttled')));
    expect(await handleConnect(options, event(await minted()))).toMatchObject({ statusCode: 503 });
  });

  it('takes a handshake without a token where CONNECT may show a password, and stores that no identity is known', async () => {
    const { options, saved } = world({ mqttPassword: true });
    expect(await handleConnect(options, event())).toMatchObject({ statusCode: 200 });
    expect(saved).toEqual([['c1', { phase: 'new' }]]);
    expect(await handleConnect(options, event('hello'))).toMatchObject({ statusCode: 403 });
  });

  it('the identity is the one that the handshake verified, whatever CONNECT claims', () => {
    const credentials = { clientId: 'c', username: 'eve', password: undefined };
    const identity = { tenant: 'default', name: 'ada' };
    const peer = { address: '', identity };
    expect(handshakeAuthenticator.authenticate({ ...credentials, peer })).toBe(identity);
    expect(handshakeAuthenticator.authenticate({ ...credentials, peer: { address: '' } })).toMatchObject({
      refused: 0x87,
    });
  });
});

describe('a secret of Secrets Manager', () => {
  const reader = (answer: object) => secretReader(() => ({ send: async () => answer }) as never);

  it('is text, or bytes that are text', async () => {
    expect(await reader({ SecretString: 'a' })('arn')).toBe('a');
    expect(await reader({ SecretBinary: new TextEncoder().encode('b') })('arn')).toBe('b');
    await expect(reader({ SecretBinary: Uint8Array.of(0xff) })('arn')).rejects.toThrow('no text in UTF-8');
  });
});
