import { ConfigurationError, parsePasswordHash, parseUsers, type UserEntry } from '@apus/identity';
import { OperatorRequestError } from './request-error.ts';

/** A request to the operator's function about users with passwords, which stand in the table. */
export type UsersRequest =
  | { readonly action: 'users'; readonly tenant: string; readonly after: string | undefined }
  | { readonly action: 'add-user'; readonly tenant: string; readonly user: UserEntry }
  | {
      readonly action: 'set-password';
      readonly tenant: string;
      readonly name: string;
      /** A hash. */
      readonly password: string;
    }
  | { readonly action: 'remove-user'; readonly tenant: string; readonly name: string };

const ACTIONS: readonly UsersRequest['action'][] = ['users', 'add-user', 'set-password', 'remove-user'];

export function isUsersAction(action: unknown): action is UsersRequest['action'] {
  return ACTIONS.some((each) => each === action);
}

/** `textOf` reads a field that is a text, or throws. @throws {OperatorRequestError} */
export function readUsersRequest(
  action: UsersRequest['action'],
  tenant: string,
  fields: Readonly<Record<string, unknown>>,
  textOf: (name: string) => string | undefined,
  required: (name: string) => string,
): UsersRequest {
  switch (action) {
    case 'users':
      return { action, tenant, after: textOf('after') };
    case 'add-user':
      return { action, tenant, user: readUserEntry(fields.user) };
    case 'set-password':
      return { action, tenant, ...readPassword(fields) };
    case 'remove-user':
      return { action, tenant, name: required('name') };
  }
}

/** Characters of an entry: rules have a limit of their own, and a login reads it all. */
const ENTRY_LENGTH_MAX = 32 * 1_024;

/** An entry as a users file has it. @throws {OperatorRequestError} */
function readUserEntry(value: unknown): UserEntry {
  const json = JSON.stringify(value ?? null);
  if (json.length > ENTRY_LENGTH_MAX)
    throw new OperatorRequestError(`A user has at most ${ENTRY_LENGTH_MAX} characters of JSON.`);
  try {
    parseUsers(`{"users": [${json}]}`, 'user');
  } catch (error) {
    if (error instanceof ConfigurationError) throw new OperatorRequestError(error.message);
    throw error;
  }
  return value as UserEntry;
}

/** @throws {OperatorRequestError} */
function readPassword({ name, password }: Readonly<Record<string, unknown>>) {
  if (typeof name !== 'string' || name === '') throw new OperatorRequestError('"name" is missing.');
  if (typeof password !== 'string' || parsePasswordHash(password) === undefined)
    throw new OperatorRequestError(
      '"password" is a hash that begins with "scrypt:"; `apus passwd` makes one.',
    );
  return { name, password };
}
