import { ConfigurationError } from '../configuration-error.ts';
import { StoredUsers } from '../stored-users.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { UsersAuthenticator } from '../users-authenticator.ts';
import type { UserLookup } from '../users-file.ts';
import { UsersMember } from '../users-member.ts';
import type { AuthenticatorKind, ChainContext, Position } from './kind.ts';

interface UsersConfiguration {
  readonly where: string;
  /** Undefined: the users are in the table of the deployment, or of the hub. */
  readonly path: string | undefined;
  readonly tenant: string | undefined;
}

/** Users with hashed passwords. */
export const usersKind: AuthenticatorKind<UsersConfiguration> = {
  name: 'users',
  takesTokens: false,
  takesPasswords: true,
  fields: ['file', 'table', 'tenant'],
  parse(fields) {
    const path = fields.text('file');
    const isInTable = fields.flag('table') ?? false;
    if ((path === undefined) !== isInTable)
      throw new ConfigurationError(
        `${fields.where} has to have one of "file", the users file of a node, and "table": true, in a deployment, or in a hub. \`apus user add\` writes the first two.`,
      );
    return { where: fields.where, path, tenant: fields.tenant() };
  },
  create(configuration, context, { source, isLastForPasswords }) {
    const { tenant = DEFAULT_TENANT } = configuration;
    const users = usersOf(configuration, tenant, context, source);
    const { clock, limiter } = context;
    const authenticator = new UsersAuthenticator({ users, tenant, clock, limiter });
    return new UsersMember({
      source,
      users,
      authenticator,
      isLast: isLastForPasswords,
      ...(users instanceof StoredUsers && { stored: users }),
    });
  },
};

function usersOf(
  { path, where }: UsersConfiguration,
  tenant: string,
  { usersFile, usersTable, readUser }: ChainContext,
  source: Position['source'],
): UserLookup {
  if (path === undefined) {
    if (usersTable !== undefined) return usersTable({ source, tenant });
    if (readUser === undefined)
      throw new ConfigurationError(
        `${where}.table is for deployments in AWS and for hubs: a node has a "file".`,
      );
    return new StoredUsers(tenant, readUser);
  }
  if (usersFile === undefined) throw new ConfigurationError(`${path}: there are no files in the cloud.`);
  return usersFile(path, { source, tenant });
}
