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

/** Makes a token that a broker with the same secret accepts: HS256 over the claims. */
export async function mintToken(secret: Uint8Array, options: MintOptions): Promise<string> {
  const { sub, kid, expiresInSeconds, nowMs, ...claims } = options;
  const nowSeconds = Math.floor(nowMs / 1000);
  // Claims that are undefined are left out of the JSON.
  return await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...(kid !== undefined && { kid }) })
    .setSubject(sub)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + expiresInSeconds)
    .sign(secret);
}
