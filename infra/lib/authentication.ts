import { VARIABLES } from '@apus/cloud/lambda';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Annotations, type RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { SECRET_LENGTH } from './defaults.ts';
import type { Authentication, TokenRulesProps } from './props.ts';

/** How the functions learn what a token allows that has no filters in it. */
export function defaultRulesVariables(rules: TokenRulesProps | undefined): Readonly<Record<string, string>> {
  if (rules === undefined) return {};
  const { publish = [], subscribe = [] } = rules;
  return { [VARIABLES.tokenDefaultRules]: JSON.stringify({ publish, subscribe }) };
}

export interface SecretProps {
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey: IKey | undefined;
}

/** How the gateway's function learns who may connect. */
export interface Verification {
  /** For the function of handshakes. */
  readonly variables: Readonly<Record<string, string>>;
  /** For all functions: who may do what is asked everywhere, as wills and sessions have identities too. */
  readonly sharedVariables: Readonly<Record<string, string>>;
  /** The secret that signs tokens, where there is one. */
  readonly secret: ISecret | Secret | undefined;
  grantVerify(grantee: IGrantable): void;
}

export function createVerification(
  scope: Construct,
  authentication: Authentication,
  props: SecretProps,
): Verification {
  if (authentication === 'anonymous') return anonymous(scope);
  if (authentication === 'generated-secret') {
    return bySecret(createSecret(scope, 'TokenSecret', 'Apus: signs the tokens of clients (HS256)', props));
  }
  if ('secret' in authentication) return bySecret(authentication.secret);
  const { jwksUrl, issuer, audience } = authentication;
  const variables = {
    [VARIABLES.tokenJwksUrl]: jwksUrl,
    [VARIABLES.tokenIssuer]: issuer,
    ...(audience !== undefined && { [VARIABLES.tokenAudience]: audience }),
  };
  return { variables, sharedVariables: {}, secret: undefined, grantVerify: () => {} };
}

/** A secret that Secrets Manager makes up. Parameters of SSM would cost nothing, but CloudFormation can make none that is secret. */
export function createSecret(scope: Construct, id: string, description: string, props: SecretProps): Secret {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: SECRET_LENGTH, excludePunctuation: true },
    removalPolicy: props.removalPolicy,
    ...(props.encryptionKey !== undefined && { encryptionKey: props.encryptionKey }),
  });
  acknowledge(
    secret,
    'AwsSolutions-SMG4',
    'Whoever rotates it makes every token that is in use invalid: that is for the owner to time, and the runbook says how.',
  );
  return secret;
}

function bySecret(secret: ISecret | Secret): Verification {
  return {
    variables: { [VARIABLES.tokenSecretArn]: secret.secretArn },
    sharedVariables: {},
    secret,
    grantVerify: (grantee) => secret.grantRead(grantee),
  };
}

function anonymous(scope: Construct): Verification {
  Annotations.of(scope).addWarningV2(
    'apus:anonymous',
    'Anybody who knows the URL may connect, publish and subscribe, at your cost (authentication: anonymous). The throttles and the breaker bound the cost; nothing bounds who reads what.',
  );
  return {
    variables: {},
    sharedVariables: { [VARIABLES.authentication]: 'anonymous' },
    secret: undefined,
    grantVerify: () => {},
  };
}
