import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createSecret } from '../authentication.ts';
import { GENERATED, isGenerated, secretsOf, variableOf } from '../identity.ts';
import type { ClusterIdentityProps } from './cluster-props.ts';

/** The settings with which the processes authenticate clients. */
export interface ClusterIdentity {
  readonly configuration: ClusterIdentityProps;
  /** The value of `--identity`. CloudFormation inserts ARNs that are only known at deployment. */
  readonly json: string;
  /** The secret that signs tokens, if the construct has created one. */
  readonly secret: ISecret | Secret | undefined;
  grantVerify(grantee: IGrantable): void;
}

export function createClusterIdentity(
  scope: Construct,
  given: ClusterIdentityProps | undefined,
  removalPolicy: RemovalPolicy,
): ClusterIdentity {
  const configuration = given ?? { authenticators: [{ jwt: { secretArn: GENERATED } }] };
  const secret = isGenerated(configuration)
    ? createSecret(scope, 'TokenSecret', 'Apus: signs the tokens of clients (HS256)', {
        removalPolicy,
        encryptionKey: undefined,
      })
    : undefined;
  const secrets = secretsOf(scope, configuration, secret);
  return {
    configuration,
    json: variableOf(scope, configuration, secret),
    secret,
    grantVerify: (grantee) => {
      for (const each of secrets) each.grantRead(grantee);
    },
  };
}
