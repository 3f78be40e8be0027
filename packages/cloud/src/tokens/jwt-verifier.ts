import type { Identity } from '@apus/broker';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { type IdentityDefaults, identityOf } from './claims.ts';
import type { TokenRefusal, TokenVerifier } from './token-verifier.ts';

/** Clocks of whoever signs and of Lambda may disagree by so much. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Longest token that is looked at; a URL of API Gateway holds little more. */
const TOKEN_LENGTH_MAX = 6_144;

const MISSING: TokenRefusal = {
  refused: 'missing',
  reason: 'This endpoint asks for a token, in the query parameter "token".',
};

export interface JwtVerifierOptions extends IdentityDefaults {
  /** Checks signature, issuer, audience and times. Rejects with an error of jose. */
  readonly check: (token: string) => Promise<JWTPayload>;
}

/** Checks JSON Web Tokens (RFC 7519). One that never expires is not accepted. */
export class JwtVerifier implements TokenVerifier {
  readonly #options: JwtVerifierOptions;

  constructor(options: JwtVerifierOptions) {
    this.#options = options;
  }

  async verify(token: string | undefined): Promise<Identity | TokenRefusal> {
    if (token === undefined || token === '') return MISSING;
    if (token.length > TOKEN_LENGTH_MAX) return { refused: 'invalid', reason: 'The token is too long.' };
    try {
      return identityOf(await this.#options.check(token), this.#options);
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { refused: 'expired', reason: 'The token has expired.' };
      if (isRefusal(error))
        return { refused: 'invalid', reason: `The token is not valid: ${error.message}.` };
      throw error;
    }
  }
}

/** What is wrong with the token, and not with fetching the keys. */
function isRefusal(error: unknown): error is errors.JOSEError {
  return error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
}

const CHECKS: JWTVerifyOptions = { clockTolerance: CLOCK_TOLERANCE_SECONDS, requiredClaims: ['exp', 'sub'] };

/** Tokens signed with a secret of the deployment's (HS256): `apus token` makes them. */
export function secretCheck(secret: () => Promise<Uint8Array>): JwtVerifierOptions['check'] {
  return async (token) => {
    const { payload } = await jwtVerify(token, await secret(), { ...CHECKS, algorithms: ['HS256'] });
    return payload;
  };
}

export interface KeySetOptions {
  readonly url: string;
  readonly issuer: string;
  /** The audience that a token has to name. Undefined: any, as for access tokens that have none. */
  readonly audience?: string;
}

/** Tokens of an identity provider, by its published keys, which are cached and fetched again for an unknown one. */
export function keySetCheck({ url, issuer, audience }: KeySetOptions): JwtVerifierOptions['check'] {
  const keys = createRemoteJWKSet(new URL(url));
  const algorithms = [
    'RS256',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
  ];
  const options = { ...CHECKS, issuer, algorithms, ...(audience !== undefined && { audience }) };
  return async (token) => (await jwtVerify(token, keys, options)).payload;
}
