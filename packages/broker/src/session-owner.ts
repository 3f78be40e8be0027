import type { Identity, OpenSession, SessionRecord } from './ports/index.ts';

/** A session's owner is a name of its tenant, whichever credential shows it. */
export function isSameOwner(one: Identity, other: Identity): boolean {
  return one.tenant === other.tenant && one.name === other.name;
}

/**
 * Whether the session that stands there is not the caller's to take [SEC-OWNER-1] [SEC-OWNER-2] [SEC-OWNER-4].
 *
 * @param isHeld it has a connection, or outlives the last one
 */
export function belongsToAnother(
  { identity, bindingRank }: Pick<SessionRecord, 'identity' | 'bindingRank'>,
  request: Pick<OpenSession, 'identity' | 'bindingRank'>,
  isHeld: boolean,
): boolean {
  if (!isHeld || isSameOwner(identity, request.identity)) return false;
  return bindingRank >= request.bindingRank;
}
