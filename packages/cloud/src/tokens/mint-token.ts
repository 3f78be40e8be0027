import { SignJWT } from 'jose';
import type { TokenClaims } from './claims.ts';

export interface MintOptions extends TokenClaims {
  readonly sub: string;
  readonly expiresInSeconds: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Makes a token that `secretCheck` accepts: HS256 over the claims. */
export async function mintToken(secret: Uint8Array, options: MintOptions): Promise<string> {
  const { sub, tenant, publish, subscribe, expiresInSeconds, nowMs } = options;
  const nowSeconds = Math.floor(nowMs / 1000);
  const claims = {
    ...(tenant !== undefined && { tenant }),
    ...(publish !== undefined && { publish }),
    ...(subscribe !== undefined && { subscribe }),
  };
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + expiresInSeconds)
    .sign(secret);
}
