/** Characters of a token that is read: longer ones fit into no URL. */
const TOKEN_CHARACTERS_MAX = 16_384;

/** How long before the end of its token a connection warns. */
export const WARNING_MS = 5 * 60_000;

/** When a JSON Web Token ends (`exp`), in milliseconds since 1970; undefined where that is not known. */
export function endOfToken(token: string | undefined): number | undefined {
  const claims = token?.slice(0, TOKEN_CHARACTERS_MAX).split('.')[1];
  if (claims === undefined) return undefined;
  try {
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown };
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    // No JSON Web Token.
    return undefined;
  }
}
