import type { Awaitable } from '@apus/broker';
import {
  ConfigurationError,
  hashPassword,
  PASSWORD_BYTES_MAX,
  parseUsers,
  type UserEntry,
} from '@apus/identity';
import { type ApiRequest, listAt, mapped, type Part, type Slice, valueAt } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import type { Ended, UserLine } from '../schemas/users.ts';

/** Users with passwords: in the files of a node, or the table of a deployment. */
export interface UserTable {
  part(tenant: string, slice: Slice): Awaitable<Part<UserEntry>>;
  /** False: there is a user of that name. */
  add(tenant: string, user: UserEntry): Awaitable<boolean>;
  /** False: there is no such user. @throws {ApiProblem} if it is being changed, or `change` throws one */
  change(tenant: string, name: string, change: (user: UserEntry) => UserEntry): Awaitable<boolean>;
  /** Ends the sessions of the user as well, also where there was no such user any more. */
  remove(tenant: string, name: string): Awaitable<Ended & { readonly isRemoved: boolean }>;
}

export interface UserFacts {
  /** @throws {ApiProblem} where there are none */
  users(): UserTable;
}

/** Bytes of an entry: rules have a limit of their own, and a login reads it all. */
const USER_BYTES_MAX = 32 * 1_024;

export const userHandlers = {
  listUsers: listAt('here', async (facts: UserFacts, { tenant }, slice): Promise<Part<UserLine>> => {
    return mapped(await facts.users().part(tenant, slice), ({ password: _, ...user }) => user);
  }),
  addUser: valueAt('here', async (facts: UserFacts, request) => {
    const users = facts.users();
    const user = userIn(await withHash(await jsonOf(request)));
    if (await users.add(request.tenant, user)) return undefined;
    throw new ApiProblem('ALREADY_EXISTS', `There is a user ${JSON.stringify(user.name)} already.`);
  }),
  changeUser: valueAt('here', async (facts: UserFacts, request) => {
    const users = facts.users();
    const { name, ...given } = await withHash(await jsonOf(request));
    if (name !== undefined) throw new ApiProblem('BAD_REQUEST', 'The name of a user stays: add another one.');
    const change = (before: UserEntry) => userIn(withoutNulls({ ...before, ...given }));
    if (await users.change(request.tenant, nameIn(request), change)) return undefined;
    throw noUser(request);
  }),
  removeUser: valueAt('here', async (facts: UserFacts, request): Promise<Ended> => {
    const { isRemoved, ...ended } = await facts.users().remove(request.tenant, nameIn(request));
    if (isRemoved) return ended;
    throw noUser(request);
  }),
};

/** An entry as a users file has it. @throws {ApiProblem} */
function userIn(value: unknown): UserEntry {
  try {
    parseUsers(JSON.stringify({ users: [value] }), 'user');
  } catch (error) {
    throw error instanceof ConfigurationError ? new ApiProblem('BAD_REQUEST', error.message) : error;
  }
  return value as UserEntry;
}

/** The hash in the place of a plain password. @throws {ApiProblem} */
async function withHash(value: unknown): Promise<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiProblem('BAD_REQUEST', 'A user is a JSON object.');
  const { plain_password: plain, ...fields } = value as Readonly<Record<string, unknown>>;
  if (plain === undefined) return fields;
  const bytes = typeof plain === 'string' ? Buffer.from(plain) : Buffer.alloc(0);
  if (fields.password !== undefined || bytes.length === 0 || bytes.length > PASSWORD_BYTES_MAX) {
    const message = `plain_password is a text of 1 to ${PASSWORD_BYTES_MAX} bytes, in the place of password.`;
    throw new ApiProblem('BAD_REQUEST', message);
  }
  return { ...fields, password: await hashPassword(bytes) };
}

function withoutNulls(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function jsonOf(request: ApiRequest): Awaitable<unknown> {
  return request.json('A user', USER_BYTES_MAX);
}

function nameIn({ parameters }: ApiRequest): string {
  return parameters.name ?? '';
}

function noUser(request: ApiRequest): ApiProblem {
  return new ApiProblem('NOT_FOUND', `There is no user ${JSON.stringify(nameIn(request))}.`);
}
