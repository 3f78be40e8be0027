import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { TokenClaims } from './claims.ts';

export interface MintOptions extends TokenClaims {
  readonly sub: string;
  readonly expiresInSeconds: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Name of the secret, where there are several. */
  readonly kid?: string | undefined;
}

/**
 * Makes a token that a broker accepts if it has the same secret (HS256 over the claims), or the public key of this
 * private key: EdDSA, ES256, ES384, ES512 or RS256.
 */
export async function mintToken(key: Uint8Array | KeyObject, options: MintOptions): Promise<string> {
  const { sub, kid, expiresInSeconds, nowMs, ...claims } = options;
  const nowSeconds = Math.floor(nowMs / 1000);
  // Claims that are undefined are left out of the JSON.
  return await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: algorithmOf(key), typ: 'JWT', ...(kid !== undefined && { kid }) })
    .setSubject(sub)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + expiresInSeconds)
    .sign(key);
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

function algorithmOf(key: Uint8Array | KeyObject): string {
  if (key instanceof Uint8Array) return 'HS256';
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm !== undefined) return algorithm;
  throw new Error(`a key of the kind ${asymmetricKeyType} signs no tokens`);
}
