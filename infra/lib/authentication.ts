import { VARIABLES } from '@apus/aws/lambda';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Annotations, type RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge, acknowledgeRule } from './acknowledge.ts';
import { SECRET_LENGTH } from './defaults.ts';
import {
  authenticationFunctionsOf,
  authorizationVariableOf,
  identityOf,
  isGenerated,
  secretsOf,
  variableOf,
} from './identity.ts';
import type { ApusBrokerProps } from './props.ts';

export interface SecretProps {
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey: IKey | undefined;
  /**
   * Secrets Manager rotates it with a function that keeps the former key.
   * @default false
   */
  readonly isRotated?: boolean;
}

/** The settings with which the gateway's functions authenticate clients. */
export interface Verification {
  /** For the function of handshakes. */
  readonly variables: Readonly<Record<string, string>>;
  /** For all functions: each of them authorizes, as wills and sessions have identities too. */
  readonly sharedVariables: Readonly<Record<string, string>>;
  /** The secret that signs tokens, if there is one. */
  readonly secret: ISecret | Secret | undefined;
  grantVerify(grantee: IGrantable): void;
}

export function createVerification(
  scope: Construct,
  props: ApusBrokerProps,
  secretProps: SecretProps,
): Verification {
  if (props.authentication === 'anonymous') return anonymous(scope);
  const identity = identityOf(props);
  const own = props.authentication;
  const generated = () =>
    createSecret(scope, 'TokenSecret', 'Apus: signs the tokens of clients (HS256)', {
      ...secretProps,
      isRotated: props.rotateTokenSecretDays !== undefined,
    });
  const secret =
    typeof own === 'object' && 'secret' in own ? own.secret : isGenerated(identity) ? generated() : undefined;
  const secrets = secretsOf(scope, identity, secret);
  return {
    variables: { [VARIABLES.identity]: variableOf(scope, identity, secret) },
    sharedVariables: sharedVariablesOf(scope, identity.authorization),
    secret,
    grantVerify: (grantee) => {
      for (const each of secrets) each.grantRead(grantee);
      grantInvoke(grantee, authenticationFunctionsOf(identity));
    },
  };
}

/** Allows a broker function to invoke functions of the owner. */
export function grantInvoke(grantee: IGrantable, functionArns: readonly string[]): void {
  if (functionArns.length === 0) return;
  Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns: [...functionArns] });
}

function sharedVariablesOf(scope: Construct, authorization: unknown): Readonly<Record<string, string>> {
  if (authorization === undefined) return {};
  return { [VARIABLES.authorization]: authorizationVariableOf(scope, authorization) };
}

/**
 * A secret whose value Secrets Manager generates. Parameters of SSM would be free, but CloudFormation cannot create
 * secret ones.
 */
export function createSecret(scope: Construct, id: string, description: string, props: SecretProps): Secret {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: SECRET_LENGTH, excludePunctuation: true },
    removalPolicy: props.removalPolicy,
    ...(props.encryptionKey !== undefined && { encryptionKey: props.encryptionKey }),
  });
  if (props.isRotated === true) return secret;
  const rotation =
    'It holds a list of keys: a new one signs while the former one is kept until its tokens have expired. Secrets Manager would replace it at once.';
  acknowledge(secret, 'AwsSolutions-SMG4', rotation);
  acknowledgeRule(secret, 'SecretsManagerRotationEnabled', rotation);
  return secret;
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
