import { regionOfFunction } from '@apus/aws/lambda';
import {
  ConfigurationError,
  checkCookieOrigins,
  createAuthorizer,
  createChain,
  GuessLimiter,
  type HookSender,
  KnownTenants,
  readIdentity,
} from '@apus/identity';
import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { identityOf, isSigned } from './identity.ts';
import type { ApusBrokerProps } from './props.ts';
import { PropsError } from './props-error.ts';

const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };
const CLOCK = { now: () => Date.now() };

/** A value that is only known at deployment is assumed to be valid. */
const UNRESOLVED = 'known-at-deployment';
const UNRESOLVED_URL = `https://${UNRESOLVED}.example`;

/**
 * Reads the configuration as the function of handshakes will.
 *
 * @throws {PropsError} with the message with which the function would fail
 */
export function checkIdentity(scope: IConstruct, props: ApusBrokerProps): void {
  const { identity, authentication, tokenDefaultRules, allowedOrigins = 'any' } = props;
  if (identity === undefined && !isSigned(props)) return;
  if (identity !== undefined && (authentication !== undefined || tokenDefaultRules !== undefined)) {
    throw new PropsError(
      scope,
      'identity says all of who may connect: authentication and tokenDefaultRules are shorthands for it.',
    );
  }
  try {
    const parsed = readIdentity(resolved(identityOf(props)), 'identity');
    checkCookieOrigins(parsed, allowedOrigins, 'allowedOrigins');
    const readSecret = async () => '';
    const context = {
      clock: CLOCK,
      log: NO_LOG,
      limiter: new GuessLimiter(CLOCK),
      readSecret,
      readUser: async () => undefined,
      tenants: new KnownTenants({ read: () => undefined, clock: CLOCK, log: NO_LOG }),
      functionSender,
    };
    createAuthorizer(parsed.authorization, context);
    if (parsed.iam === undefined) createChain(parsed, context);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new PropsError(scope, error.message);
    throw error;
  }
  checkSecrets(scope, props.identity?.authenticators ?? []);
}

/** The check sends no requests at synthesis. */
function functionSender(functionArn: string): HookSender {
  if (functionArn !== UNRESOLVED) checkArn(functionArn);
  return { send: () => Promise.reject(new Error('not deployed')) };
}

function checkArn(functionArn: string): void {
  try {
    regionOfFunction(functionArn);
  } catch (error) {
    throw new ConfigurationError(`functionArn: ${(error as Error).message}.`, { cause: error });
  }
}

/** The configuration with a placeholder for each value that is only known at deployment. */
export function resolved(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, function (this: { readonly region?: unknown }, key, each: unknown) {
      if (typeof each !== 'string' || !Token.isUnresolved(each)) return each;
      if (key.endsWith('Url')) return UNRESOLVED_URL;
      // The id of a user pool begins with its Region.
      const region = Token.isUnresolved(this.region) ? UNRESOLVED : String(this.region);
      return key === 'userPoolId' ? `${region}_${UNRESOLVED}` : UNRESOLVED;
    }),
  );
}

/** Environment variables are visible to all users who may read a function, and are in the template. */
export function checkSecrets(
  scope: IConstruct,
  authenticators: readonly Readonly<Record<string, unknown>>[],
): void {
  const text = JSON.stringify(authenticators);
  for (const name of ['secret', 'secrets', 'key']) {
    if (!text.includes(`"${name}":`)) continue;
    throw new PropsError(
      scope,
      `identity has a "${name}" in it, which everybody would see who may look at the function: put it into Secrets Manager, and its ARN into "secretArn".`,
    );
  }
}
