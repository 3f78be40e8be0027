import { ApiProblem, type UserTable } from '@apus/api';
import type { Expulsion, Identity } from '@apus/broker';
import type { UserEntry } from '@apus/identity';
import { ReasonCode } from '@apus/mqtt';
import type { HasTime, OperatorContext } from './ban.ts';

/** A user that was removed. */
const REMOVED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: 'this user is not known here any more',
  endsSession: true,
  publishesWill: false,
};

export function userTable({ users, enforcement }: OperatorContext, hasTime: HasTime): UserTable {
  return {
    async part(tenant, { limit, after }) {
      const page = await users.list(tenant, after, limit);
      return { entries: page.users.map(entryOf), next: page.next };
    },
    add: (tenant, user) => users.add(tenant, user.name, JSON.stringify(user)),
    async change(tenant, name, change) {
      const before = await users.get(tenant, name);
      if (before === undefined) return false;
      const after = JSON.stringify(change(entryOf(before)));
      if (await users.replace(tenant, name, before, after)) return true;
      const message = `The user "${name}" is being changed by somebody else: try again.`;
      throw new ApiProblem('BAD_REQUEST', message);
    },
    async remove(tenant, name) {
      const isRemoved = await users.remove(tenant, name);
      const isMeant = ({ identity }: { readonly identity: Identity }) => isOfUser(identity, tenant, name);
      return { isRemoved, ...(await enforcement.search(isMeant, REMOVED, hasTime)) };
    },
  };
}

function entryOf(json: string): UserEntry {
  return JSON.parse(json);
}

/**
 * Whether the session belongs to a user who has logged in with a password. An identity from a token has an end, and one
 * from a key has the id of its key.
 */
function isOfUser(identity: Identity, tenant: string, name: string): boolean {
  const { expiresAtMs, tokenId } = identity;
  const isByPassword = expiresAtMs === undefined && tokenId === undefined;
  return isByPassword && identity.tenant === tenant && identity.name === name;
}
