import { type AuthenticationStep, type Credentials, type Identity, Unavailable } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { tokenMethods } from '../src/index.ts';

const ADA: Identity = { tenant: 'blue', name: 'ada' };
const BOB: Identity = { tenant: 'blue', name: 'bob' };
const IDENTITIES: Readonly<Record<string, Identity>> = { 'token of ada': ADA, 'token of bob': BOB };

const methods = tokenMethods({
  verify(token) {
    if (token === 'keys away') throw new Error('no answer from the issuer');
    if (token === 'answer away') return { refused: ReasonCode.ServerUnavailable, reason: 'away' };
    return IDENTITIES[token] ?? { refused: 'invalid', reason: 'The token is not valid.' };
  },
});

function begin(data: Uint8Array | undefined, handshake?: Identity): Promise<AuthenticationStep> {
  const [, method] = methods;
  const peer = { address: '192.0.2.1:1883', ...(handshake !== undefined && { identity: handshake }) };
  const credentials: Credentials = { clientId: 'c', username: undefined, password: undefined, peer };
  return Promise.resolve(method?.begin(data, credentials) ?? fail());
}

function fail(): never {
  throw new Error('expected a second method');
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const success = (identity: Identity) => ({ outcome: 'success', data: undefined, identity });
const failure = { outcome: 'failure', refused: 0x87, reason: expect.any(String) };

describe('the methods of tokens', () => {
  it('have the names that Azure Event Grid uses', () => {
    expect(methods.map(({ name }) => name)).toEqual(['OAUTH2-JWT', 'CUSTOM-JWT']);
  });

  it('use Authentication Data as the token', async () => {
    expect(await begin(bytes('token of ada'))).toEqual(success(ADA));
  });

  it('use the identity of the handshake if there is no token', async () => {
    expect(await begin(undefined, ADA)).toEqual(success(ADA));
    expect(await begin(new Uint8Array(), ADA)).toEqual(success(ADA));
  });

  it('refuse a client without any token', async () => {
    expect(await begin(undefined)).toEqual(failure);
  });

  it.each([
    ['that is not valid', bytes('forged')],
    ['that is not UTF-8', Uint8Array.of(0xff, 0xfe)],
  ])('refuse a token %s, also after a handshake with a token', async (_, data) => {
    expect(await begin(data)).toEqual(failure);
    expect(await begin(data, ADA)).toEqual(failure);
  });

  it("refuse a token of another identity than the handshake's", async () => {
    expect(await begin(bytes('token of bob'), ADA)).toEqual(failure);
    expect(await begin(bytes('token of ada'), { ...ADA, tenant: 'red' })).toEqual(failure);
    expect(await begin(bytes('token of ada'), ADA)).toEqual(success(ADA));
  });

  it.each(['keys away', 'answer away'])('report that a token cannot be checked: %s', async (token) => {
    const error = await begin(bytes(token)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({ reasonCode: 0x89 });
  });
});
