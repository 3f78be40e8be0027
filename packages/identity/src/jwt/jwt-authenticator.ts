import type { Clock, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { Answer, ChainAuthenticator, NotMine, Shown } from '../answer.ts';
import { SourceUnavailable } from '../refreshed.ts';
import { type IdentityDefaults, identityOf } from './claims.ts';
import { candidatesOf, type KeyRing } from './key-ring.ts';
import { readToken, TOKEN_LENGTH_MAX, type UnverifiedToken } from './token.ts';

/** The clocks of the signer and of this process may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 5;

export interface JwtAuthenticatorOptions extends IdentityDefaults {
  readonly source: string;
  readonly keys: KeyRing;
  /** The required `iss`. A token of another issuer goes to the next authenticator. */
  readonly issuer?: string | undefined;
  /**
   * `aud` has to contain one of them.
   * @default `aud` is ignored
   */
  readonly audiences?: readonly string[] | undefined;
  /** Returns another mistake in the claims, in a sentence. */
  readonly check?: ((claims: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  readonly clock: Clock;
}

/** Checks JSON Web Tokens (RFC 7519), which come with the handshake, as MQTT password or in AUTH. */
export class JwtAuthenticator implements ChainAuthenticator {
  readonly source: string;
  readonly #options: JwtAuthenticatorOptions;

  constructor(options: JwtAuthenticatorOptions) {
    this.source = options.source;
    this.#options = options;
  }

  async authenticate({ token, password }: Shown): Promise<Answer> {
    const text = token ?? (password === undefined ? undefined : textOf(password));
    if (text === undefined) return { notMine: 'no token was shown' };
    return await this.verify(text);
  }

  async probe(): Promise<void> {
    await this.#options.keys.keys();
  }

  /** The identity of a token. */
  async verify(token: string): Promise<Answer> {
    if (token.length > TOKEN_LENGTH_MAX) {
      return { notMine: `it is longer than the ${TOKEN_LENGTH_MAX} characters that a token may have` };
    }
    const unverified = readToken(token);
    if (unverified === undefined) return { notMine: 'it is no JSON Web Token' };
    const other = this.#otherIssuer(unverified);
    if (other !== undefined) return other;
    try {
      return this.#identityOf(await this.#verified(token, unverified), unverified);
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Reads unverified claims: they only select the authenticator to ask. */
  #otherIssuer({ alg, issuer }: UnverifiedToken): NotMine | undefined {
    const { keys } = this.#options;
    if (!keys.algorithms.includes(alg)) {
      return { notMine: `it is not signed with one of ${keys.algorithms.join(', ')}` };
    }
    if (this.#options.issuer === undefined || issuer === this.#options.issuer) return undefined;
    return { notMine: `its issuer is not ${this.#options.issuer}` };
  }

  /** @throws an error of jose, or {SourceUnavailable} */
  async #verified(token: string, unverified: UnverifiedToken): Promise<JWTPayload> {
    const { keys } = this.#options;
    const known = await keys.keys();
    try {
      return await this.#tryEach(token, unverified, known);
    } catch (error) {
      // A key with this name is known, but did not sign the token: newer keys would not change that.
      const isNamed = known.some(({ kid }) => kid !== undefined && kid === unverified.kid);
      if (!(error instanceof errors.JWSSignatureVerificationFailed) || isNamed) throw error;
      if (!(await keys.again())) throw error;
      return await this.#tryEach(token, unverified, await keys.keys());
    }
  }

  async #tryEach(
    token: string,
    { alg, kid }: UnverifiedToken,
    keys: Awaited<ReturnType<KeyRing['keys']>>,
  ): Promise<JWTPayload> {
    const { issuer, audiences, clock } = this.#options;
    let failure: unknown = new errors.JWSSignatureVerificationFailed(
      'no key is known that may have signed it',
    );
    for (const { key } of candidatesOf(keys, { alg, kid })) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          requiredClaims: ['exp'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(clock.now()),
          ...(issuer !== undefined && { issuer }),
          ...(audiences !== undefined && { audience: [...audiences] }),
        });
        return payload;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #identityOf(claims: JWTPayload, { kid }: UnverifiedToken): Identity | Refusal {
    const problem = this.#options.check?.(claims);
    if (problem !== undefined) return refused(problem);
    const identity = identityOf(claims, this.#options);
    if (typeof identity === 'string') return refused(identity);
    return { ...identity, source: this.source, ...(kid !== undefined && { keyId: kid }) };
  }
}

function refused(reason: string): Refusal {
  return { refused: ReasonCode.NotAuthorized, reason: `The token is not valid: ${reason}` };
}

/** The mistake in the token, or the failure to fetch the keys. jose quotes names of claims, and never their values. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof SourceUnavailable) {
    const reason = 'The keys that tokens are checked with cannot be read now; try again.';
    return { refused: ReasonCode.ServerUnavailable, reason };
  }
  if (error instanceof errors.JWTExpired) {
    return { refused: ReasonCode.NotAuthorized, reason: 'The token has expired.' };
  }
  if (error instanceof errors.JOSEError) return refused(`${error.message}.`);
  throw error;
}

/** Undefined if the text cannot be a token. */
function textOf(password: Uint8Array): string | undefined {
  return password.length > TOKEN_LENGTH_MAX ? undefined : Buffer.from(password).toString('latin1');
}
