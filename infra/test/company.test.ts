import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { synthApp, synthBroker } from './support/synth.ts';

const KEY = 'arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000';

describe('a deployment with the flags for a company', () => {
  const template = synthApp({
    tags: 'team=iot,cost-center=42',
    encryptionKeyArn: KEY,
    reservedConcurrency: '40',
    deletionProtection: 'true',
    alarmEmail: 'ops@example.com',
    alarmFrameMilliseconds: '500',
    alarmSweepMissing: 'true',
    budgetDollars: '50',
  });

  it('tags every resource', () => {
    const Tags = Match.arrayWith([
      { Key: 'cost-center', Value: '42' },
      { Key: 'team', Value: 'iot' },
    ]);
    for (const type of ['AWS::DynamoDB::Table', 'AWS::Lambda::Function', 'AWS::SQS::Queue']) {
      template.hasResourceProperties(type, { Tags });
    }
  });

  it('encrypts with the key, which the functions may use, and protects the tables', () => {
    template.allResourcesProperties('AWS::DynamoDB::Table', {
      SSESpecification: { SSEType: 'KMS', KMSMasterKeyId: KEY },
      DeletionProtectionEnabled: true,
    });
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: KEY });
    template.hasResourceProperties('AWS::SecretsManager::Secret', { KmsKeyId: KEY });
    const usesKey = Match.arrayWith([
      Match.objectLike({ Action: Match.arrayWith(['kms:Decrypt']), Resource: KEY }),
    ]);
    for (const role of ['BrokerGatewayRole', 'BrokerFanOutRole', 'BrokerSweepRole', 'BrokerOperatorRole']) {
      template.hasResourceProperties('AWS::IAM::Policy', {
        PolicyName: Match.stringLikeRegexp(`^${role}`),
        PolicyDocument: { Statement: usesKey },
      });
    }
  });

  it('keeps environments for the gateway', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: handshakes and frames of clients',
      ReservedConcurrentExecutions: 40,
    });
  });

  it('has alarms on slow frames, and on a sweep that does not run: there missing data is the alarm', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Duration',
      ExtendedStatistic: 'p99',
      Threshold: 500,
      EvaluationPeriods: 5,
      TreatMissingData: 'notBreaching',
    });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Invocations',
      Threshold: 1,
      Period: 1_800,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
    template.resourceCountIs('AWS::CloudWatch::Alarm', 14);
  });

  it('has a budget for the resources that are tagged as the broker', () => {
    template.hasResourceProperties('AWS::Budgets::Budget', {
      Budget: {
        BudgetLimit: { Amount: 50, Unit: 'USD' },
        TimeUnit: 'MONTHLY',
        CostFilters: { TagKeyValue: ['user:apus:broker$Apus/Broker'] },
      },
      NotificationsWithSubscribers: [
        Match.objectLike({ Notification: Match.objectLike({ NotificationType: 'ACTUAL', Threshold: 80 }) }),
        Match.objectLike({
          Notification: Match.objectLike({ NotificationType: 'FORECASTED', Threshold: 100 }),
        }),
      ],
    });
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      Tags: Match.arrayWith([{ Key: 'apus:broker', Value: 'Apus/Broker' }]),
    });
  });
});

it('has none of this by default', () => {
  const { template } = synthBroker();
  template.resourceCountIs('AWS::Budgets::Budget', 0);
  template.resourceCountIs('AWS::CloudWatch::Alarm', 12);
});

it.each([
  [{ tags: 'team' }, '--tags are as team=iot,cost-center=42'],
  [{ tags: 'aws:team=iot' }, 'none begins with aws: or apus:, not "aws:team=iot".'],
  [{ encryptionKeyArn: 'alias/mine' }, '--encryption-key-arn is a whole ARN, as arn:aws:kms:'],
  [{ budgetDollars: '50' }, '--budget-dollars needs --alarm-email'],
  [{ budgetDollars: '0', alarmEmail: 'a@b.c' }, 'budget.dollarsPerMonth is a whole number from 1 up, not 0.'],
  [
    { alarmFrameMilliseconds: '6000' },
    'alarms.frameMilliseconds is a whole number from 10 to 5,000, not 6000.',
  ],
])('%j is refused', (context, sentence) => {
  expect(() => synthApp(context)).toThrow(sentence);
});
