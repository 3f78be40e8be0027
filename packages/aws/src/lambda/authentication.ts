import type { Authenticator, Authorizer } from '@apus/broker';
import {
  createChain,
  DEFAULT_TENANT,
  GuessLimiter,
  Handshakes,
  handshakeAuthenticator,
  KnownTenants,
  parseIdentity,
  type ReadTenant,
  type ReadUser,
  type TokenCheck,
} from '@apus/identity';
import type { Variables } from '../function-options.ts';
import type { HandshakeCheck } from '../handshake/handshake-check.ts';
import { SignedHandshakes } from '../identity/signed-handshakes.ts';
import { authorizerOf, hookContextOf, type InvocationOptions } from './authorizer.ts';
import { secretReader } from './secret.ts';
import { required } from './settings.ts';
import { VARIABLES } from './variables.ts';

/** The authentication and authorization of this deployment. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** For `$connect`; undefined if every client may connect. */
  readonly handshakes: HandshakeCheck | undefined;
  /** For AUTH. */
  readonly tokens: TokenCheck | undefined;
}

/** Services that the chain has at hand. */
export interface AuthenticationContext extends InvocationOptions {
  /** @default a client of AWS Secrets Manager */
  readonly readSecret?: (arn: string) => Promise<string>;
  /** Reads a user of the table. */
  readonly readUser?: ReadUser | undefined;
  /** Reads a tenant of the table. Absent: there are no plans, and no tenant has keys of its own. */
  readonly readTenant?: ReadTenant | undefined;
}

/** Every client may do everything: the owner has explicitly asked for this. */
const ANONYMOUS: Authentication = {
  authenticator: { authenticate: () => ({ tenant: DEFAULT_TENANT, name: '' }) },
  authorizer: { allowsEverything: true, mayPublish: () => true, maySubscribe: () => true },
  handshakes: undefined,
  tokens: undefined,
};

export function authenticationOf(variables: Variables, context: AuthenticationContext): Authentication {
  if (variables[VARIABLES.authentication] === 'anonymous') return ANONYMOUS;
  const identity = parseIdentity(required(variables, VARIABLES.identity), VARIABLES.identity);
  const { iam, cookie, mqttPassword } = identity;
  const hooks = hookContextOf(variables, context);
  const authorizer = authorizerOf(variables, hooks);
  const tenants = tenantsOf(context);
  if (iam !== undefined) return byHandshake(authorizer, new SignedHandshakes(iam, tenants));
  const { clock, readSecret = secretReader(), readUser } = context;
  const limiter = new GuessLimiter(clock);
  const chain = createChain(identity, { ...hooks, readSecret, readUser, tenants, limiter });
  return {
    authenticator: mqttPassword ? chain : handshakeAuthenticator,
    authorizer,
    handshakes: new Handshakes({ chain, cookie, allowsPassword: mqttPassword }),
    tokens: chain,
  };
}

/** For functions that no client speaks to: they authorize by the identities that sessions keep. */
export function authorizationOf(variables: Variables, context: AuthenticationContext): Authentication {
  if (variables[VARIABLES.authentication] === 'anonymous') return ANONYMOUS;
  return byHandshake(authorizerOf(variables, hookContextOf(variables, context)), undefined);
}

/** The register of tenants, as a function that authenticates reads it. */
export function tenantsOf({ readTenant, clock, log }: AuthenticationContext): KnownTenants | undefined {
  return readTenant && new KnownTenants({ read: readTenant, clock, log });
}

/** Without AUTH: there are no tokens. */
function byHandshake(authorizer: Authorizer, handshakes: HandshakeCheck | undefined): Authentication {
  return { authenticator: handshakeAuthenticator, authorizer, handshakes, tokens: undefined };
}
