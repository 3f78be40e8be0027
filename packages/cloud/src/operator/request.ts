import { type Ban, type BanName, readUsageQuestion, type UsageQuestion } from '@apus/broker';
import { isTenant, readBan, readBanName } from '@apus/identity';
import type { MembersRequest } from './members.ts';
import { OperatorRequestError } from './request-error.ts';
import type { StreamsRequest } from './streams.ts';
import { isTenantsAction, readTenantsRequest, type TenantsRequest } from './tenants-request.ts';
import { isUsersAction, readUsersRequest, type UsersRequest } from './users-request.ts';

/** Clients that one answer lists at most, but for the rest of a page of the table. */
const CLIENTS_MAX = 1_000;
const CLIENTS_DEFAULT = 100;

/** A request of the operator's function. */
export type OperatorRequest =
  /** Sessions, connected or not: of one client identifier, or of one name, or all. */
  | {
      readonly action: 'clients';
      readonly tenant: string | undefined;
      readonly clientId: string | undefined;
      readonly username: string | undefined;
      /** An answer has about this many. */
      readonly limit: number;
      /** The `next` of the answer before. */
      readonly after: unknown;
    }
  | { readonly action: 'kick'; readonly tenant: string; readonly clientId: string }
  | { readonly action: 'ban'; readonly ban: Ban }
  | { readonly action: 'unban'; readonly ban: BanName }
  /** Lists the bans of one tenant, with those of addresses, which hold for every tenant; or all bans. */
  | { readonly action: 'bans'; readonly tenant: string | undefined }
  | MembersRequest
  | { readonly action: 'usage'; readonly question: UsageQuestion }
  | StreamsRequest
  | UsersRequest
  | TenantsRequest;

const ACTIONS =
  'clients, kick, ban, revoke, unban, bans, members, streams, stream-messages, users, add-user, set-password, remove-user, usage, tenants, tenant, create-tenant, change-tenant and remove-tenant';

/** The tenant and the operator, for requests that name none. */
interface RequestContext {
  readonly presetTenant: string;
  readonly nowMs: number;
}

/**
 * Reads the JSON that the function is invoked with.
 *
 * @throws {OperatorRequestError | BanEntryError}
 */
export function readRequest(value: unknown, { presetTenant, nowMs }: RequestContext): OperatorRequest {
  if (typeof value !== 'object' || value === null)
    throw new OperatorRequestError('A request is a JSON object.');
  const { action, tenant: asked, ...fields } = value as Readonly<Record<string, unknown>>;
  if (asked !== undefined && !isTenant(asked))
    throw new OperatorRequestError('"tenant" has up to 64 letters, digits, ".", "_" and "-".');
  const tenant = asked ?? presetTenant;
  const text = (name: string) => textOf(fields, name);
  const required = (name: string) => text(name) ?? missing(name);
  if (isTenantsAction(action)) return readTenantsRequest(action, fields, text, required);
  if (isUsersAction(action)) return readUsersRequest(action, tenant, fields, text, required);
  switch (action) {
    case 'clients':
      return { action, tenant: asked, ...listingOf(fields) };
    case 'kick':
      return { action, tenant, clientId: required('clientId') };
    case 'ban':
      return { action, ban: readBan(fields, { tenant, by: 'operator', nowMs }) };
    case 'revoke': {
      const { token, ...others } = fields;
      const entry = { as: 'token', who: token, ...others };
      return { action: 'ban', ban: readBan(entry, { tenant, by: 'operator', nowMs }) };
    }
    case 'unban':
      return { action, ban: readBanName(fields.as, fields.who, tenant) };
    case 'bans':
      return { action, tenant: asked };
    case 'members':
      return { action, tenant, room: required('room'), after: text('after') };
    case 'streams':
      return { action, tenant };
    case 'stream-messages': {
      const { name, ...others } = fields;
      return { action, tenant, name, fields: others };
    }
    case 'usage':
      return { action, question: readUsageQuestion({ ...fields, tenant: asked }, nowMs) };
    default:
      throw new OperatorRequestError(`"action" is one of ${ACTIONS}.`);
  }
}

function listingOf(fields: Readonly<Record<string, unknown>>) {
  const { limit = CLIENTS_DEFAULT, after } = fields;
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > CLIENTS_MAX)
    throw new OperatorRequestError(`"limit" is a whole number from 1 to ${CLIENTS_MAX}.`);
  return {
    clientId: textOf(fields, 'clientId'),
    username: textOf(fields, 'username'),
    limit: Number(limit),
    after,
  };
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value as string | undefined;
  throw new OperatorRequestError(`"${name}" is a string, and not empty.`);
}

function missing(name: string): never {
  throw new OperatorRequestError(`"${name}" is missing.`);
}
