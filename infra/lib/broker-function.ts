import { fileURLToPath } from 'node:url';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BUNDLING } from './bundling.ts';

/** The repository, as seen from here and from `dist/app.mjs` alike: both are two folders below it. */
const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

export interface BrokerFunctionProps {
  /** Path of the entry below the repository. */
  readonly entry: string;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: Duration;
  readonly memorySizeMegabytes: number;
  readonly logRetention: RetentionDays;
  readonly tracing: boolean;
  readonly reservedConcurrency?: number;
}

/** A Lambda function as all of them are: arm64, one minified file, a role of its own that may write to its own log. */
export class BrokerFunction extends NodejsFunction {
  readonly memorySizeMegabytes: number;

  constructor(scope: Construct, id: string, props: BrokerFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    super(scope, id, {
      entry: `${REPOSITORY}${props.entry}`,
      projectRoot: REPOSITORY,
      depsLockFilePath: `${REPOSITORY}package-lock.json`,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memorySizeMegabytes,
      timeout: props.timeout,
      environment: { ...props.environment },
      role,
      logGroup,
      // START and REPORT lines of each frame would cost as much as the frame. Ours are filtered by the code itself, by
      // `logLevel`: at WARN, Lambda would drop the lines that CloudWatch reads metrics from.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      bundling: BUNDLING,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
    });
    this.memorySizeMegabytes = props.memorySizeMegabytes;
    acknowledgeWildcards(role);
  }
}

function acknowledgeWildcards(role: Role): void {
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5',
    reason:
      'Wildcards stand for the streams of the one log group of this function, for connections, whose ids nobody knows beforehand, and for traces, which have no resources.',
  });
}
