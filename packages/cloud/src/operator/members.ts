import type { DynamoPresence } from '@apus/store-dynamodb';
import { OperatorRequestError } from './request-error.ts';

/** Members that one answer lists: an answer of a function has at most 6 MB, and data are base64 in it. */
export const MEMBERS_MAX = 1_000;

export interface MembersRequest {
  readonly action: 'members';
  readonly tenant: string;
  readonly room: string;
  /** The `next` of the answer before. */
  readonly after: string | undefined;
}

/** A member, as `GET /api/v5/presence/ROOM` lists it. */
export interface MemberLine {
  readonly member: string;
  /** Base64. */
  readonly payload: string;
  readonly joined_at: string;
  readonly clientids: readonly string[];
}

export interface MemberListing {
  readonly members: readonly MemberLine[];
  readonly next: string | undefined;
}

/** Members of a room as they are now, in the order of their names. @throws {OperatorRequestError} */
export async function listMembers(
  presence: DynamoPresence | undefined,
  { tenant, room, after }: MembersRequest,
  limit = MEMBERS_MAX,
): Promise<MemberListing> {
  if (presence === undefined)
    throw new OperatorRequestError('This deployment keeps no presence: deploy it with `presence`.');
  const { members, next } = await presence.members(tenant, room, after, limit);
  return {
    members: members.map(({ member, message, joinedAtMs, clientIds }) => ({
      member,
      payload: Buffer.from(message.payload).toString('base64'),
      joined_at: new Date(joinedAtMs).toISOString(),
      clientids: clientIds,
    })),
    next,
  };
}
