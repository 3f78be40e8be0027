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
import { type Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { BUNDLING, REPOSITORY } from './bundling.ts';
import { ENTRIES, type EntryName } from './entries.ts';
import { packedFunction } from './packed-functions.ts';

export interface BrokerFunctionProps {
  readonly entry: EntryName;
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
  /** Its permissions, as a construct. */
  readonly ownRole: Role;

  constructor(scope: Construct, id: string, props: BrokerFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    super(scope, id, {
      entry: `${REPOSITORY}${ENTRIES[props.entry]}`,
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
      ...packedFunction(props.entry),
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
    });
    this.memorySizeMegabytes = props.memorySizeMegabytes;
    this.ownRole = role;
    acknowledgeFindings(this);
    if (props.tracing) acknowledgeWildcard(role, '*', 'Traces have no resources to name.');
  }
}

function acknowledgeFindings(lambda: IConstruct): void {
  acknowledge(
    lambda,
    'Serverless-LambdaDLQ',
    "It is called by the gateway or for a queue, which has dead letters of its own; the sweep and the breaker, which no client waits for, have alarms on their errors; who invokes the operator's waits for its answer.",
  );
  acknowledge(
    lambda,
    'Serverless-LambdaTracing',
    'Tracing is a prop, off by default: a million traces cost five times as much as a million frames.',
  );
}
