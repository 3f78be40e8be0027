import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type IFunction,
  type ILayerVersion,
  type IVersion,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge, acknowledgeRule, acknowledgeWildcard } from './acknowledge.ts';
import { BUNDLING, REPOSITORY } from './bundling.ts';
import { checkEnvironment } from './check-environment.ts';
import { ENTRIES, type EntryName } from './entries.ts';
import { packedFunction } from './packed-functions.ts';

export interface BrokerFunctionProps {
  readonly entry: EntryName;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: Duration;
  readonly memorySizeMegabytes: number;
  readonly logRetention: RetentionDays;
  /**
   * The key that encrypts the log.
   * @default a key of AWS
   */
  readonly logKey: IKey | undefined;
  readonly tracing: boolean;
  /** @default none */
  readonly layers?: readonly ILayerVersion[];
  readonly reservedConcurrency?: number;
  /**
   * How often Lambda calls it again if it fails, where no caller waits for its answer.
   * @default twice
   */
  readonly retryAttempts?: number;
  /**
   * Callers use an alias, which CodeDeploy moves to a new version.
   * @default callers use the latest deployed code
   */
  readonly hasAlias: boolean;
}

/**
 * The settings that all Lambda functions share: arm64, one minified file, a role of its own that may write to its own
 * log.
 */
export class BrokerFunction extends NodejsFunction {
  readonly memorySizeMegabytes: number;
  /** Its permissions, as a construct. */
  readonly ownRole: Role;
  /** The alias that callers use; undefined if they call the function itself. */
  readonly alias: Alias | undefined;

  constructor(scope: Construct, id: string, props: BrokerFunctionProps) {
    checkEnvironment(scope, id, props.environment);
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(props.logKey !== undefined && { encryptionKey: props.logKey }),
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
      // START and REPORT lines of each frame would cost as much as the frame. The code itself filters its lines, by
      // `logLevel`: at WARN, Lambda would drop the lines from which CloudWatch reads metrics.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      layers: [...(props.layers ?? [])],
      bundling: BUNDLING,
      ...(props.retryAttempts !== undefined && { retryAttempts: props.retryAttempts }),
      ...packedFunction(props.entry),
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
    });
    this.memorySizeMegabytes = props.memorySizeMegabytes;
    this.ownRole = role;
    this.alias = props.hasAlias
      ? new Alias(this, 'Live', { aliasName: 'live', version: this.currentVersion as IVersion })
      : undefined;
    acknowledgeFindings(this);
    if (props.tracing) acknowledgeWildcard(role, '*', 'Traces have no resources to name.');
  }
}

/** The function as routes, event sources and URLs name it. */
export function calledAs(lambda: BrokerFunction): IFunction {
  // In the CDK's classes a role may be missing, in a way that its interfaces do not express.
  return (lambda.alias ?? lambda) as IFunction;
}

function acknowledgeFindings(lambda: BrokerFunction): void {
  const deadLetters =
    "It is called by the gateway or for a queue, which has dead letters of its own; the sweep and the breaker, which no client waits for, have alarms on their errors; who invokes the operator's waits for its answer.";
  acknowledge(lambda, 'Serverless-LambdaDLQ', deadLetters);
  acknowledgeRule(lambda, 'LambdaDLQ', deadLetters);
  acknowledge(
    lambda,
    'Serverless-LambdaTracing',
    'Tracing is a prop, off by default: a million traces cost five times as much as a million frames.',
  );
  acknowledgeRule(
    lambda,
    'LambdaConcurrency',
    "Reserved concurrency is a prop for the two functions that the world calls, the gateway's and that of backends: an account with a concurrency of ten can reserve none. The others are bounded by what calls them: the workers by their event sources, the sweep and the breaker by schedule and alarm, the operator's by its callers, Disconnect by the connections that there are.",
  );
  acknowledgeRule(
    lambda,
    'LambdaInsideVPC',
    'It has nothing in a VPC to talk to. It calls DynamoDB, SQS, Secrets Manager and @connections with a role of its own, over TLS, and of the outside only what its owner names (a key set, a hook). In a VPC it would need an interface endpoint or a NAT gateway for each of them, at $7 a month and more.',
  );
  acknowledgeRole(lambda.ownRole);
}

/** cdk-nag's findings for a role with one purpose that may use what the broker's key encrypts. */
export function acknowledgeRole(role: Role): void {
  for (const action of ['kms:GenerateDataKey*', 'kms:ReEncrypt*']) {
    acknowledge(
      role,
      `AwsSolutions-IAM5[Action::${action}]`,
      'It stands for the few variants of one operation, on the one key of the broker.',
    );
  }
  acknowledgeRule(
    role,
    'IAMNoInlinePolicy',
    'The policy is for one role of one purpose, and goes with it: a managed policy could be attached to others.',
  );
}
