import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { IdentityProps } from './authentication-props.ts';
import type { ApusBrokerProps } from './props.ts';
import { PropsError } from './props-error.ts';

/** The placeholder in a configuration for the ARN of the secret that the stack generates. */
export const GENERATED = 'generated';

/** Lambda has 4 KB for all variables of a function. */
const VARIABLE_LENGTH_MAX = 2_048;
const AUTHORIZATION_LENGTH_MAX = 768;

/** The part of an authenticator's configuration that contains secrets: `{"jwt": {"secretArn": …}}`. */
type Member = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The configuration for the props; `authentication` is a shorthand for the most frequent ones. */
export function identityOf({ identity, authentication, tokenDefaultRules }: ApusBrokerProps): IdentityProps {
  if (identity !== undefined) return identity;
  const rules = tokenDefaultRules !== undefined && { defaultRules: tokenDefaultRules };
  if (typeof authentication !== 'object' || 'secret' in authentication) {
    return { authenticators: [{ jwt: { secretArn: GENERATED, ...rules } }] };
  }
  if ('iam' in authentication) return authentication;
  const { jwksUrl, issuer, audience } = authentication;
  return { authenticators: [{ jwt: { jwksUrl, issuer, audience, ...rules } }] };
}

/** Whether API Gateway asks for signatures. */
export function isSigned(props: ApusBrokerProps): boolean {
  return props.authentication !== 'anonymous' && identityOf(props).iam !== undefined;
}

/** The Lambda function that authorizes, if there is one. */
export function authorizationFunctionOf({ identity }: ApusBrokerProps): string | undefined {
  const arn = identity?.authorization?.hook?.functionArn;
  return typeof arn === 'string' ? arn : undefined;
}

/** The Lambda functions that authenticate. */
export function authenticationFunctionsOf({ authenticators }: IdentityProps): readonly string[] {
  const arns = membersOf(authenticators).map(({ hook }) => hook?.functionArn);
  return [...new Set(arns.filter((arn): arn is string => typeof arn === 'string'))];
}

export function isGenerated(identity: IdentityProps): boolean {
  return arnsIn(identity).includes(GENERATED);
}

/** Every secret that the configuration names. */
export function secretsOf(
  scope: Construct,
  identity: IdentityProps,
  generated: ISecret | Secret | undefined,
): readonly (ISecret | Secret)[] {
  return arnsIn(identity).flatMap((arn, index) => {
    if (arn === GENERATED) return generated === undefined ? [] : [generated];
    return [Secret.fromSecretCompleteArn(scope, `IdentitySecret${index}`, arn)];
  });
}

/** The environment variable. CloudFormation inserts ARNs that are only known at deployment. */
export function variableOf(
  scope: Construct,
  { authorization: _, ...identity }: IdentityProps,
  generated: ISecret | Secret | undefined,
): string {
  const known = JSON.stringify(identity, (key, value: unknown) =>
    key === 'secretArn' && value === GENERATED ? generated?.secretArn : value,
  );
  return jsonFor(scope, 'identity', known, VARIABLE_LENGTH_MAX);
}

/** The environment variable of all functions, as wills are authorised too. */
export function authorizationVariableOf(scope: Construct, authorization: unknown): string {
  return jsonFor(scope, 'identity.authorization', JSON.stringify(authorization), AUTHORIZATION_LENGTH_MAX);
}

function jsonFor(scope: Construct, name: string, known: string, lengthMax: number): string {
  if (known.length > lengthMax) {
    throw new PropsError(
      scope,
      `${name} is ${known.length} characters long as JSON; a function's environment has room for ${lengthMax}. Keys and users can be kept in secrets ("secretArn").`,
    );
  }
  return Token.isUnresolved(known) ? Stack.of(scope).toJsonString(JSON.parse(known)) : known;
}

function arnsIn({ authenticators }: IdentityProps): readonly string[] {
  const arns = membersOf(authenticators).flatMap((member) =>
    Object.values(member).map((each) => each?.secretArn),
  );
  return [...new Set(arns.filter((arn): arn is string => typeof arn === 'string'))];
}

function membersOf(authenticators: unknown): readonly Member[] {
  return Array.isArray(authenticators) ? (authenticators as readonly Member[]) : [];
}
