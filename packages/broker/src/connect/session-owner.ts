import type { Identity } from '../model/identity.ts';
import type { OpenSession, SessionRecord } from '../ports/index.ts';

/** Whether two identities own the same sessions: they have the same name and tenant, whichever credential shows it. */
export function isSameOwner(one: Identity, other: Identity): boolean {
  return one.tenant === other.tenant && one.name === other.name;
}

/**
 * Whether the existing session belongs to another owner [SEC-OWNER-1] [SEC-OWNER-2] [SEC-OWNER-4].
 *
 * @param isHeld the session has a connection, or outlives the last one
 */
export function belongsToAnother(
  { identity, bindingRank }: Pick<SessionRecord, 'identity' | 'bindingRank'>,
  request: Pick<OpenSession, 'identity' | 'bindingRank'>,
  isHeld: boolean,
): boolean {
  if (!isHeld || isSameOwner(identity, request.identity)) return false;
  return bindingRank >= request.bindingRank;
}
