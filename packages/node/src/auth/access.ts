import { readFileSync } from 'node:fs';
import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type Log,
  rulesAuthorizer,
} from '@apus/broker';
import {
  type Chain,
  ConfigurationError,
  createAuthorizer,
  createChain,
  GuessLimiter,
  Handshakes,
  type IdentityConfiguration,
  takesTokens,
  tokenMethods,
  type UsersOwner,
  WatchedUsersFile,
} from '@apus/identity';
import type { ResolvedOptions } from '../options.ts';
import { knownTenants } from '../tenant-keeper.ts';
import { anonymousAuthenticator, everythingAllowed, TENANT } from './anonymous.ts';
import { UsersAuthorizer } from './users-authorizer.ts';

/** The users of a file, and the sessions that they own. */
export interface UsersFile extends UsersOwner {
  readonly users: WatchedUsersFile;
}

/** The clients that may connect to a node, and their rules: the same at both of its doors. */
export interface Access {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly authenticationMethods: readonly AuthenticationMethod[];
  /** Checks tokens of handshakes. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  /** Files that are read again when they change. */
  readonly usersFiles: readonly UsersFile[];
}

/** A node whose configuration names a chain. */
export interface ChainAccess extends Access {
  readonly chain: Chain;
}

type AccessOptions = Pick<
  ResolvedOptions,
  | 'identity'
  | 'tenants'
  | 'readSecret'
  | 'authenticator'
  | 'authorizer'
  | 'authenticationMethods'
  | 'usersFile'
  | 'clock'
>;

/** @throws {ConfigurationError} if something that the configuration names does not exist */
export function openAccess(options: AccessOptions, log: Log): Access {
  const { identity, usersFile: users } = options;
  if (identity !== undefined) return openChain(identity, options, log);
  return {
    authenticator: options.authenticator ?? anonymousAuthenticator,
    authorizer: options.authorizer ?? presetAuthorizer(options),
    authenticationMethods: options.authenticationMethods,
    handshakes: undefined,
    usersFiles: users === undefined ? [] : [{ users, tenant: TENANT, source: 'users' }],
  };
}

/** An authenticated client may do what rules allow, and nothing else [SEC-RULES-7]. */
function presetAuthorizer({ authenticator, usersFile }: AccessOptions): Authorizer {
  if (authenticator === undefined) return everythingAllowed;
  return usersFile === undefined ? rulesAuthorizer : new UsersAuthorizer(usersFile);
}

/** At the node a client may always authenticate by CONNECT: a connection costs nothing here. */
export function openChain(
  identity: IdentityConfiguration,
  { clock, readSecret, tenants }: Pick<AccessOptions, 'clock' | 'readSecret'> & Partial<AccessOptions>,
  log: Log,
): ChainAccess {
  const usersFiles: UsersFile[] = [];
  const chain = createChain(identity, {
    clock,
    log,
    timers: clock,
    limiter: new GuessLimiter(clock),
    readFile,
    readSecret,
    tenants: tenants && knownTenants(tenants, clock, log),
    usersFile: (path, owner) => {
      const users = new WatchedUsersFile(path);
      usersFiles.push({ users, ...owner });
      return users;
    },
  });
  const { cookie } = identity;
  const withTokens = takesTokens(identity);
  return {
    chain,
    authenticator: chain,
    authorizer: createAuthorizer(identity.authorization, { clock, log, timers: clock }, chain.authorizer),
    authenticationMethods: withTokens ? tokenMethods(chain) : [],
    handshakes: withTokens ? new Handshakes({ chain, cookie, allowsPassword: true }) : undefined,
    usersFiles,
  };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError((error as Error).message, { cause: error });
  }
}
