import { variableOf } from '@apus/aws/function-options';
import { type ExportFormat, VARIABLES } from '@apus/aws/lambda';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge, acknowledgeRule, acknowledgeWildcard } from './acknowledge.ts';
import { BrokerFunction } from './broker-function.ts';
import { MEMORY_MEGABYTES_SMALL } from './defaults.ts';
import type { FunctionDefaults } from './functions.ts';
import type { BrokerTable } from './table.ts';

/** As long as the rows themselves: the owner may need an invoice a year later. */
const KEPT = Duration.days(400);
const TIMEOUT = Duration.minutes(5);
/** The time at which the day before is over, in UTC, and all environments have written their rows. */
const SCHEDULE = Schedule.cron({ hour: '1', minute: '20' });
/** The prefix under which the function writes. */
const FOLDER = 'usage/';

export interface UsageExportProps extends FunctionDefaults {
  readonly table: BrokerTable;
  readonly format: ExportFormat;
  readonly encryptionKey: IKey | undefined;
  readonly removalPolicy: RemovalPolicy;
  /** Versioning keeps the old content of a file that is replaced. */
  readonly isVersioned: boolean;
}

/** A bucket for the usage of tenants, and the function that writes a file into it each day. */
export class UsageExport {
  readonly bucket: Bucket;
  readonly lambda: BrokerFunction;

  constructor(scope: Construct, props: UsageExportProps) {
    this.bucket = createBucket(scope, props);
    const { logRetention, logKey, tracing, environment, format, table } = props;
    this.lambda = new BrokerFunction(scope, 'UsageExport', {
      ...{ logRetention, logKey, tracing },
      entry: 'usageExport',
      description: 'Apus: writes the usage of each day into a bucket',
      environment: {
        ...variablesOf(environment),
        [VARIABLES.usageBucket]: this.bucket.bucketName,
        [VARIABLES.usageExport]: format,
      },
      timeout: TIMEOUT,
      memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
      hasAlias: false,
    });
    table.grant(this.lambda, 'dynamodb:Query');
    props.encryptionKey?.grantEncryptDecrypt(this.lambda);
    grantWrite(this.lambda, this.bucket);
    const schedule = new Rule(scope, 'UsageExportSchedule', {
      description: 'Apus: the usage of the day before',
      schedule: SCHEDULE,
      targets: [new LambdaFunction(this.lambda, { retryAttempts: 2 })],
    });
    acknowledge(
      schedule,
      'Serverless-EventBusDLQ',
      'A day that was missed is made up for by the next run, and there is an alarm for those that fail.',
    );
  }
}

/** The function needs only these of the variables that all functions have. */
function variablesOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  const names: readonly string[] = [VARIABLES.tableName, variableOf('logLevel')];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => names.includes(name)));
}

function createBucket(
  scope: Construct,
  { encryptionKey, removalPolicy, isVersioned }: UsageExportProps,
): Bucket {
  const bucket = new Bucket(scope, 'UsageBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    versioned: isVersioned,
    removalPolicy,
    ...(encryptionKey === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
    lifecycleRules: [
      {
        expiration: KEPT,
        abortIncompleteMultipartUploadAfter: Duration.days(1),
        ...(isVersioned && { noncurrentVersionExpiration: KEPT }),
      },
    ],
  });
  const logs =
    'One function writes a file a day, and its owner reads them: access logs would need a bucket of their own. CloudTrail has what is done to the bucket.';
  acknowledge(bucket, 'AwsSolutions-S1', logs);
  acknowledgeRule(bucket, 'S3BucketLoggingEnabled', logs);
  acknowledgeRule(
    bucket,
    'S3BucketReplicationEnabled',
    'The files are made of rows that the table keeps for thirteen months: the function writes any of them again.',
  );
  return bucket;
}

/** The function may list files, and cannot read them. */
function grantWrite(lambda: BrokerFunction, bucket: Bucket): void {
  const files = bucket.arnForObjects(`${FOLDER}*`);
  // A HEAD request needs the right to read. Without the right to list, S3 answers 403 for a missing file.
  lambda.addToRolePolicy(
    new PolicyStatement({ actions: ['s3:PutObject', 's3:GetObject'], resources: [files] }),
  );
  lambda.addToRolePolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }));
  acknowledgeWildcard(lambda.ownRole, files, 'The files of the days, which have no names before.');
}
