import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { BrokerFunction } from './broker-function.ts';
import { MEMORY_MEGABYTES_SMALL } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';

/** Four calls on one service. */
const TIMEOUT = Duration.seconds(30);

/** Days between two rotations: as many as Secrets Manager takes. */
export const ROTATION_DAYS_MAX = 1_000;

export interface RotationProps extends Pick<FunctionDefaults, 'logRetention' | 'logKey' | 'tracing'> {
  readonly secret: Secret;
  readonly days: number;
}

/** Lets Secrets Manager rotate the secret that signs tokens, with a function that keeps the former key. */
export function createRotation(
  scope: Construct,
  { secret, days, ...defaults }: RotationProps,
): BrokerFunction {
  const lambda = new BrokerFunction(scope, 'Rotation', {
    entry: 'rotation',
    description: 'Apus: rotates the secret that signs tokens',
    environment: {},
    timeout: TIMEOUT,
    memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
    ...defaults,
    hasAlias: false,
  });
  // The first rotation comes after the first interval: a deployment prints how to make a token with the present secret.
  secret.addRotationSchedule('Schedule', {
    rotationLambda: lambda,
    automaticallyAfter: Duration.days(days),
    rotateImmediatelyOnUpdate: false,
  });
  acknowledgeWildcard(
    lambda.ownRole,
    '*',
    'The CDK lets every rotation function have a password made up, which belongs to no secret.',
  );
  return lambda;
}
