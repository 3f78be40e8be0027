import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type Log,
  rulesAuthorizer,
} from '@apus/broker';
import type { Scheduler } from '@apus/door';
import {
  type ChainContext,
  ConfigurationError,
  createAuthorizer,
  createChain,
  GuessLimiter,
  Handshakes,
  type IdentityConfiguration,
  takesTokens,
  tokenMethods,
} from '@apus/identity';
import { DEPLOYED_USERS, type HubUsers } from './hub-users.ts';
import type { HubOptions } from './options.ts';
import { ownTenant, ownTenantOnly } from './own-tenant.ts';

/** The clients that may connect to a hub, and their rules. */
export interface Access {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly authenticationMethods: readonly AuthenticationMethod[];
  /** Checks tokens of handshakes. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
}

/** The tenant of clients that show no other one. */
const TENANT = 'default';

/** Accepts every client. A user name that was not checked is no identity. */
const anonymous: Authenticator = { authenticate: () => ({ tenant: TENANT, name: '' }) };

export const everythingAllowed: Authorizer = {
  allowsEverything: true,
  mayPublish: () => true,
  maySubscribe: () => true,
};

/**
 * @param users in a hub, which alone checks passwords
 * @throws {ConfigurationError} if something that the configuration names does not exist
 */
export function openAccess(
  options: HubOptions,
  clock: Scheduler,
  log: Log,
  users?: Pick<HubUsers, 'usersOf'>,
): Access {
  const { identity, files = {}, authenticator, authorizer, authenticationMethods = [] } = options;
  if (identity !== undefined) return openChain(identity, chainContext(files, clock, log, users));
  return {
    authenticator: ownTenant(authenticator ?? anonymous),
    // An authenticated client may do what rules allow, and nothing else [SEC-RULES-7].
    authorizer: authorizer ?? (authenticator === undefined ? everythingAllowed : rulesAuthorizer),
    authenticationMethods,
    handshakes: undefined,
  };
}

type Files = Readonly<Record<string, string>>;

/** What the parts of a configuration of identities are made with. */
export function chainContext(
  files: Files,
  clock: Scheduler,
  log: Log,
  users: Pick<HubUsers, 'usersOf'> = DEPLOYED_USERS,
): ChainContext {
  const readFile = (path: string): string => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined;
    if (text === undefined) throw new ConfigurationError(`The text of ${path} has not been deployed.`);
    return text;
  };
  return {
    ...{ clock, log, timers: clock, readFile },
    limiter: new GuessLimiter(clock),
    usersFile: (path, owner) => users.usersOf(owner, readFile(path), path),
    usersTable: (owner) => users.usersOf(owner),
  };
}

function openChain(identity: IdentityConfiguration, context: ChainContext): Access {
  const chain = createChain(identity, context);
  const withTokens = takesTokens(identity);
  const { authorization, cookie } = identity;
  return {
    authenticator: ownTenant(chain),
    authorizer: createAuthorizer(authorization, context, chain.authorizer),
    authenticationMethods: withTokens ? tokenMethods(chain).map(ownTenantOnly) : [],
    handshakes: withTokens ? new Handshakes({ chain, cookie, allowsPassword: true }) : undefined,
  };
}
