import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthApp, synthBroker } from './support/synth.ts';

it('without the prop there is no bucket', () => {
  const { template, broker } = synthBroker({ usage: true });
  template.resourceCountIs('AWS::S3::Bucket', 0);
  expect(broker.usageBucket).toBeUndefined();
});

it('an export needs usage that is counted, and a valid format', () => {
  expect(() => synthBroker({ usageExport: 'csv' })).toThrow(/usageExport needs usage/);
  expect(() => synthBroker({ usage: true, usageExport: 'xlsx' as 'csv' })).toThrow(/one of csv, jsonl/);
});

describe('a broker that exports its usage', () => {
  const { template } = synthBroker({ usage: true, usageExport: 'jsonl' });

  it('keeps the files for as long as the rows, encrypted, closed to the outside, and when the stack goes', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        BucketEncryption: Match.anyValue(),
        PublicAccessBlockConfiguration: {
          ...{ BlockPublicAcls: true, BlockPublicPolicy: true },
          ...{ IgnorePublicAcls: true, RestrictPublicBuckets: true },
        },
        LifecycleConfiguration: {
          Rules: [Match.objectLike({ ExpirationInDays: 400, Status: 'Enabled' })],
        },
      },
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    });
  });

  it('has a function that reads rows of one table, writes below one folder, and may do nothing else', () => {
    expect(
      permissionsOf(template, 'BrokerUsageExportRole').filter((each) => !each.startsWith('logs:')),
    ).toEqual([
      'dynamodb:Query {BrokerTable}',
      's3:GetObject {BrokerUsageBucket}/usage/*',
      's3:ListBucket {BrokerUsageBucket}',
      's3:PutObject {BrokerUsageBucket}/usage/*',
    ]);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: writes the usage of each day into a bucket',
      Environment: {
        Variables: {
          APUS_TABLE_NAME: Match.anyValue(),
          APUS_LOG_LEVEL: 'warn',
          APUS_USAGE_BUCKET: Match.anyValue(),
          APUS_USAGE_EXPORT: 'jsonl',
        },
      },
    });
  });

  it('runs once a day when the day before is over, is repeated if it fails, and has an alarm', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'cron(20 1 * * ? *)',
      Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 2 } })],
    });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmDescription: Match.stringLikeRegexp('runbook.md#usage-export-errors'),
    });
  });
});

it('a deployment asks for it by a flag, and says the name of the bucket', () => {
  const template = synthApp({ usage: 'true', usageExport: 'csv' });
  template.hasOutput('UsageBucketName', { Value: Match.anyValue() });
});

it('compliance encrypts the bucket with the key, and keeps replaced versions', () => {
  const { template } = synthBroker({ usage: true, usageExport: 'csv', compliance: true });
  template.hasResourceProperties('AWS::S3::Bucket', {
    VersioningConfiguration: { Status: 'Enabled' },
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        Match.objectLike({ ServerSideEncryptionByDefault: Match.objectLike({ SSEAlgorithm: 'aws:kms' }) }),
      ],
    },
  });
});
