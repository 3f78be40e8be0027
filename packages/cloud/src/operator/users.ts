import type { Expulsion, Identity } from '@apus/broker';
import type { UserEntry } from '@apus/identity';
import { ReasonCode } from '@apus/mqtt';
import type { DynamoUsers } from '@apus/store-dynamodb';
import { OperatorRequestError } from './request-error.ts';
import type { UsersRequest } from './users-request.ts';

/** A user that was removed. */
export const REMOVED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: 'this user is not known here any more',
  endsSession: true,
  publishesWill: false,
};

/** Users as they are listed, without the hashes of their passwords. */
export interface UserListing {
  readonly users: readonly Omit<UserEntry, 'password'>[];
  /** The next request gives it as `after`; undefined after the last page. */
  readonly next?: string | undefined;
}

export async function listUsers(
  users: DynamoUsers,
  { tenant, after }: Extract<UsersRequest, { action: 'users' }>,
): Promise<UserListing> {
  const page = await users.list(tenant, after);
  const listed = page.users.map((json) => {
    const { password: _, ...user } = JSON.parse(json) as UserEntry;
    return user;
  });
  return { users: listed, ...(page.next !== undefined && { next: page.next }) };
}

/** Replaces the password of a user; open connections stay open. Returns false if there is no user of this name. */
export async function setPassword(
  users: DynamoUsers,
  { tenant, name, password }: Extract<UsersRequest, { action: 'set-password' }>,
): Promise<boolean> {
  const before = await users.get(tenant, name);
  if (before === undefined) return false;
  const after = JSON.stringify({ ...(JSON.parse(before) as UserEntry), password });
  if (await users.replace(tenant, name, before, after)) return true;
  throw new OperatorRequestError(`The user "${name}" is being changed by somebody else: try again.`);
}

/**
 * Whether the session belongs to a user who has logged in with a password. An identity from a token has an end, and one
 * from a key has the id of its key.
 */
export function isOfUser(identity: Identity, tenant: string, name: string): boolean {
  const { expiresAtMs, tokenId } = identity;
  const isByPassword = expiresAtMs === undefined && tokenId === undefined;
  return isByPassword && identity.tenant === tenant && identity.name === name;
}
