/** A longer token fits into no URL, and perhaps not into a frame with AUTH. */
const TOKEN_CHARACTERS_MAX = 20_000;

/** The part of a JSON Web Token that a client has to know. */
export interface Token {
  readonly text: string;
  /** Its `exp`, in seconds since 1970 by the clock of its issuer. */
  readonly exp: number;
  /** When the token ends by the clock of this machine, in milliseconds since 1970. */
  readonly endsAtMs: number;
}

/**
 * Reads when a token ends. Only the server verifies it. Undefined if the text is no JSON Web Token, or the token never
 * ends. The clock of this machine may be wrong. A new token cannot have expired, and none lives longer than its own
 * lifetime: if the clock contradicts this, the token's lifetime counts.
 */
export function readToken(text: string, nowMs: number): Token | undefined {
  const { exp, iat } = claimsOf(text);
  if (typeof exp !== 'number' || text.length > TOKEN_CHARACTERS_MAX) return undefined;
  const lifeMs = typeof iat === 'number' ? (exp - iat) * 1_000 : 0;
  let leftMs = exp * 1_000 - nowMs;
  if (lifeMs > 0 && (leftMs <= 0 || leftMs > lifeMs)) leftMs = lifeMs;
  return leftMs > 0 ? { text, exp, endsAtMs: nowMs + leftMs } : undefined;
}

function claimsOf(text: string): { readonly exp?: unknown; readonly iat?: unknown } {
  try {
    const payload = text.split('.')[1] ?? '';
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
