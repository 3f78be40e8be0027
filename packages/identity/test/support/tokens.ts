import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Identity, Refusal } from '@apus/broker';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type Answer, createChain, GuessLimiter, readIdentity } from '../../src/index.ts';

export const NOW_MS = Date.UTC(2026, 0, 1);
export const NOW_SECONDS = NOW_MS / 1000;
export const SECRET = '0123456789abcdef0123456789abcdef';
export const ADDRESS = '192.0.2.1:5000';

export class TestClock {
  nowMs = NOW_MS;
  now = () => this.nowMs;
}

export function chainOf(authenticators: readonly object[], clock = new TestClock(), readSecret = NO_SECRETS) {
  const logged: unknown[] = [];
  const note = (event: string, fields: unknown) => logged.push([event, fields]);
  const log = { debug: note, info: note, warn: note, error: note };
  const identity = readIdentity({ authenticators }, 'identity');
  const chain = createChain(identity, { clock, log, limiter: new GuessLimiter(clock), readSecret });
  const verify = (token: string) => chain.verify(token, ADDRESS);
  const login = (username: string, password: string) =>
    chain.ask({ username, password: new TextEncoder().encode(password), address: ADDRESS });
  return { chain, verify, login, logged };
}

const NO_SECRETS = (arn: string): Promise<string> => Promise.reject(new Error(`there is no ${arn}`));

export interface Signer {
  readonly jwk: Readonly<Record<string, unknown>>;
  sign(claims?: JWTPayload, header?: object): Promise<string>;
}

/** Claims of a valid token; undefined claims are left out. */
export const claimsWith = (claims: JWTPayload): JWTPayload => ({
  sub: 'ada',
  exp: NOW_SECONDS + 3_600,
  ...claims,
});

export async function signer(alg: string, kid?: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const named = kid === undefined ? {} : { kid };
  const jwk = { ...(await exportJWK(publicKey)), ...named };
  const sign = (claims: JWTPayload = {}, header: object = {}) =>
    new SignJWT(claimsWith(claims)).setProtectedHeader({ alg, ...named, ...header }).sign(privateKey);
  return { jwk, sign };
}

export function signWith(secret: string, claims: JWTPayload = {}, header: object = {}): Promise<string> {
  return new SignJWT(claimsWith(claims))
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(new TextEncoder().encode(secret));
}

/** A provider's key set on this machine: a test can change the answer, and requests are counted. */
export class KeySetServer {
  requests = 0;
  answer: { status?: number; body: string; headers?: Record<string, string> } = { body: '{"keys": []}' };
  readonly #server = createServer((_request, response) => {
    this.requests += 1;
    const { status = 200, body, headers = {} } = this.answer;
    response.writeHead(status, headers).end(body);
  });

  publish(...signers: readonly Signer[]): void {
    this.answer = { body: JSON.stringify({ keys: signers.map(({ jwk }) => jwk) }) };
  }

  /** Its URL, without a path. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

export function reasonOf(answer: Identity | Refusal | Answer): string {
  return 'refused' in answer ? answer.reason : 'it was accepted';
}
