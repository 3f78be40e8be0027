import { parseJson } from '@apus/broker';
/** The longest token that is read; a URL of API Gateway holds little more. */
export const TOKEN_LENGTH_MAX = 6_144;

/** Header and claims of an unverified token, which any client can forge: they only select the authenticator to ask. */
export interface UnverifiedToken {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly issuer: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Three parts in base64url (RFC 7515, section 7.1). */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** Undefined if it is no signed JSON Web Token. */
export function readToken(token: string): UnverifiedToken | undefined {
  const [, header = '', payload = ''] = COMPACT.exec(token) ?? [];
  const { alg, kid } = decode(header) ?? {};
  const claims = decode(payload);
  if (typeof alg !== 'string' || claims === undefined) return undefined;
  return { alg, kid: textOrNothing(kid), issuer: textOrNothing(claims.iss), claims };
}

function decode(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
