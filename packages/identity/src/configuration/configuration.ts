import type { ApiKeySource } from '../api-keys/api-key-source.ts';
import { Chain } from '../chain.ts';
import { ConfigurationError } from '../configuration-error.ts';
import { type ApiKeysConfiguration, apiKeysKind, sourceOf } from './api-keys.ts';
import { type AuthorizationConfiguration, readAuthorization } from './authorization.ts';
import { certificateKind } from './certificate.ts';
import { cognitoKind } from './cognito.ts';
import { Fields } from './fields.ts';
import { hookKind } from './hook.ts';
import { type IamConfiguration, readIam } from './iam.ts';
import { jwtKind } from './jwt.ts';
import type { AuthenticatorKind, ChainContext } from './kind.ts';
import { tenantsKind } from './tenants.ts';
import { usersKind } from './users.ts';

/** Every kind of authenticator that a configuration can name. */
const KINDS: readonly AuthenticatorKind[] = [
  jwtKind,
  cognitoKind,
  apiKeysKind,
  usersKind,
  tenantsKind,
  hookKind,
  certificateKind,
] as AuthenticatorKind[];

/** Authenticators in one chain: each one that is asked in vain costs time. */
const AUTHENTICATORS_MAX = 10;

/** The fields of every kind. */
const COMMON_FIELDS = ['name'] as const;

const EXAMPLE = '{"authenticators": [{"jwt": {"secretFile": "…"}}, {"users": {"file": "…"}}]}';

/** One authenticator as it was read: its kind, and its configuration parsed by that kind. */
interface Member {
  readonly kind: AuthenticatorKind;
  readonly source: string;
  readonly where: string;
  readonly configuration: unknown;
}

/** Authentication, as one JSON file configures it for both doors and for the cloud. */
export interface IdentityConfiguration {
  /** As it was given: `readIdentity` reads it again, in another process. */
  readonly given: unknown;
  readonly members: readonly Member[];
  /** Name of the cookie that may hold a token. */
  readonly cookie: string | undefined;
  /**
   * In the cloud: whether CONNECT may have a user name and a password, or a token as password. Elsewhere it always may.
   */
  readonly mqttPassword: boolean;
  /** The hook that decides if an identity's own rules do not. Undefined: there is none, and access is denied. */
  readonly authorization: AuthorizationConfiguration | undefined;
  /**
   * In the cloud: API Gateway checks credentials of AWS. A route has one kind of authorisation, so there is no chain.
   */
  readonly iam: IamConfiguration | undefined;
}

/**
 * Reads the text of a configuration.
 *
 * @param where stands before each error, such as the name of the file
 * @throws {ConfigurationError} in a sentence for the operator
 */
export function parseIdentity(text: string, where: string): IdentityConfiguration {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the text, which may contain a secret.
    throw new ConfigurationError(`${where} is not JSON. It should look like ${EXAMPLE}`);
  }
  return readIdentity(value, where);
}

/** The same for a value that is parsed already. @throws {ConfigurationError} */
export function readIdentity(value: unknown, where: string): IdentityConfiguration {
  const fields = new Fields(value, where, [
    'authenticators',
    'cookie',
    'mqttPassword',
    'authorization',
    'iam',
  ]);
  const iam = readIam(fields.raw('iam'), `${where}: iam`);
  const list = fields.list('authenticators') ?? [];
  const [beside] = fields.given('authenticators', 'cookie', 'mqttPassword');
  if (iam !== undefined && beside !== undefined) {
    fields.fail(
      beside,
      'and "iam" exclude each other: API Gateway asks for a signature, or the chain is asked.',
    );
  }
  if (iam === undefined && (list.length === 0 || list.length > AUTHENTICATORS_MAX)) {
    fields.fail('authenticators', `has to be a list of 1 to ${AUTHENTICATORS_MAX}, as ${EXAMPLE}`);
  }
  const members = list.map((entry, index) => readMember(entry, `${where}: authenticators[${index}]`));
  checkSources(members, where);
  return {
    given: value,
    members,
    cookie: readCookie(fields),
    mqttPassword: fields.flag('mqttPassword') ?? false,
    iam,
    authorization: readAuthorization(fields.raw('authorization'), `${where}: authorization`),
  };
}

function readMember(entry: unknown, where: string): Member {
  const names = typeof entry === 'object' && entry !== null ? Object.keys(entry) : [];
  const kind = KINDS.find(({ name }) => name === names[0]);
  if (kind === undefined || names.length !== 1) {
    const known = KINDS.map(({ name }) => `{"${name}": {…}}`).join(', ');
    throw new ConfigurationError(`${where} has to be one of ${known}.`);
  }
  const value = (entry as Readonly<Record<string, unknown>>)[kind.name];
  const fields = new Fields(value, `${where}.${kind.name}`, [...COMMON_FIELDS, ...kind.fields]);
  const source = fields.text('name') ?? kind.name;
  return { kind, source, where: fields.where, configuration: kind.parse(fields) };
}

/** A session stores the name of the authenticator of its identity: two of one name could not be told apart. */
function checkSources(members: readonly Member[], where: string): void {
  const seen = new Set<string>();
  for (const { source } of members) {
    if (seen.has(source)) {
      throw new ConfigurationError(
        `${where}: two authenticators are called "${source}": give each a "name" of its own.`,
      );
    }
    seen.add(source);
  }
}

/** The name of a cookie is a token of RFC 6265. */
function readCookie(fields: Fields): string | undefined {
  const name = fields.text('cookie');
  if (name === undefined || /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)) return name;
  return fields.fail('cookie', `has to be the name of a cookie, not "${name}".`);
}

/** Makes the chain. @throws {ConfigurationError} when something that the configuration names is not there */
export function createChain({ members, iam }: IdentityConfiguration, context: ChainContext): Chain {
  if (iam !== undefined)
    throw new ConfigurationError('"iam" is for deployments in AWS, where API Gateway checks signatures.');
  const lastForPasswords = members.findLast(({ kind }) => kind.takesPasswords);
  return new Chain(
    members.map((member) => {
      const { kind, source, configuration } = member;
      return kind.create(configuration, context, { source, isLastForPasswords: member === lastForPasswords });
    }),
    context.limiter,
    context.tenants,
  );
}

/** The keys of backends, one source for each `apiKeys`. @throws {ConfigurationError} */
export function apiKeySources(
  { members }: IdentityConfiguration,
  context: ChainContext,
): readonly ApiKeySource[] {
  return members
    .filter(({ kind }) => kind.name === apiKeysKind.name)
    .map(({ configuration, source }) => sourceOf(configuration as ApiKeysConfiguration, context, source));
}

/** Whether any of them uses the token of a handshake. */
export function takesTokens({ members }: IdentityConfiguration): boolean {
  return members.some(({ kind }) => kind.takesTokens);
}

/**
 * A browser sends a cookie with every WebSocket that any page opens: no same-origin rule applies [SEC-TOKEN-6].
 *
 * @param origins the door's allowed origins; 'any' if it has no list
 * @throws {ConfigurationError}
 */
export function checkCookieOrigins(
  { cookie }: IdentityConfiguration,
  origins: 'any' | readonly string[],
  howToAllow: string,
): void {
  if (cookie === undefined || origins !== 'any') return;
  throw new ConfigurationError(
    `Tokens in the cookie "${cookie}" need a list of the web pages that may connect (${howToAllow}): without one any page could open a connection in its reader's name, which is cross-site WebSocket hijacking.`,
  );
}
