import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthApp, synthBroker } from './support/synth.ts';

const KEY_ARN = 'arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000';

function requireKeyEverywhere(template: Template, key: unknown, secrets: number): void {
  template.allResourcesProperties('AWS::Logs::LogGroup', { KmsKeyId: key });
  template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: key });
  template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: key });
  template.allResourcesProperties('AWS::SecretsManager::Secret', { KmsKeyId: key });
  template.allResourcesProperties('AWS::DynamoDB::Table', { SSESpecification: { KMSMasterKeyId: key } });
  template.resourceCountIs('AWS::SecretsManager::Secret', secrets);
}

describe('compliance by flag', () => {
  const template = synthApp({ compliance: 'true', httpPublish: 'keys', accessLogs: 'true' });
  const [keyId = ''] = Object.keys(template.findResources('AWS::KMS::Key'));
  const Arn = { 'Fn::GetAtt': [keyId, 'Arn'] };

  it('makes a key that rotates, stays with the tables, and encrypts everything', () => {
    template.hasResource('AWS::KMS::Key', {
      Properties: { EnableKeyRotation: true },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
    requireKeyEverywhere(template, Arn, 2);
    template.hasOutput('EncryptionKeyArn', { Value: Arn });
  });

  it('lets the logs and the alarms of CloudWatch use the key', () => {
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: Match.anyValue() },
            Action: Match.arrayWith(['kms:Encrypt*']),
            Condition: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': Match.anyValue() } },
          }),
          Match.objectLike({
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          }),
        ]),
      },
    });
  });

  it('lets the breaker use the key: its topic is encrypted with it', () => {
    expect(permissionsOf(template, 'BrokerBreakerRole').filter((each) => each.startsWith('kms:'))).toEqual([
      'kms:Decrypt {BrokerKey}',
      'kms:GenerateDataKey* {BrokerKey}',
    ]);
  });

  it('keeps a copy of each table for 35 days, every day, beside point-in-time recovery', () => {
    template.allResourcesProperties('AWS::DynamoDB::Table', {
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
    template.hasResourceProperties('AWS::Backup::BackupPlan', {
      BackupPlan: {
        BackupPlanRule: [Match.objectLike({ Lifecycle: { DeleteAfterDays: 35 } })],
      },
    });
    template.hasResource('AWS::Backup::BackupVault', {
      Properties: { EncryptionKeyArn: Arn },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
    const [selection] = Object.values(template.findResources('AWS::Backup::BackupSelection'));
    expect(selection?.Properties.BackupSelection.Resources).toHaveLength(2);
  });
});

describe('compliance with a key of the owner', () => {
  it('uses it, and warns where its policy is kept elsewhere', () => {
    const { template, stack } = synthBroker((own) => ({
      compliance: true,
      encryptionKey: Key.fromKeyArn(own, 'Own', KEY_ARN),
    }));
    template.resourceCountIs('AWS::KMS::Key', 0);
    requireKeyEverywhere(template, KEY_ARN, 1);
    Annotations.fromStack(stack).hasWarning(
      '*',
      Match.stringLikeRegexp('docs/deploy-settings.md#compliance'),
    );
  });

  it('adds to the policy of a key that the app makes, and does not warn', () => {
    const { template, stack } = synthBroker((own) => ({
      compliance: true,
      encryptionKey: new Key(own, 'Own'),
    }));
    template.resourceCountIs('AWS::KMS::Key', 1);
    Annotations.fromStack(stack).hasNoWarning('*', Match.stringLikeRegexp('key-policy'));
  });
});

it('adopted tables are neither backed up nor changed', () => {
  const { template } = synthBroker({
    compliance: true,
    table: { adopt: { tableName: 'm', sessionsTableName: 's' } },
  });
  template.resourceCountIs('AWS::DynamoDB::Table', 0);
  template.resourceCountIs('AWS::Backup::BackupPlan', 0);
});

it('compliance without point-in-time recovery is refused', () => {
  expect(() => synthBroker({ compliance: true, table: { pointInTimeRecovery: false } })).toThrow(
    'compliance needs point-in-time recovery, and table.pointInTimeRecovery is false.',
  );
});
