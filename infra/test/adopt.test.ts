import { Match } from 'aws-cdk-lib/assertions';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthApp, synthBroker } from './support/synth.ts';

const STREAMS = [{ name: 'chat', topicFilter: 'chat/#' }];
const KEYS = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:keys-a1B2c3';

describe('a broker that adopts the tables of another one', () => {
  const template = synthApp({
    adoptTable: 'messages-1',
    adoptSessionsTable: 'sessions-1',
    httpPublish: 'keys',
    tokenSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:token-a1B2c3',
    publishKeysSecretArn: KEYS,
  });

  it('creates neither tables nor secrets', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
  });

  it('uses them, watches them and may read and write them', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          APUS_TABLE_NAME: 'messages-1',
          APUS_SESSIONS_TABLE_NAME: 'sessions-1',
        }),
      },
    });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'WriteThrottleEvents',
      Dimensions: [{ Name: 'TableName', Value: 'sessions-1' }],
    });
    const permissions = permissionsOf(template, 'BrokerGatewayRole');
    for (const name of ['messages-1', 'sessions-1']) {
      expect(
        permissions.some((each) => each.startsWith('dynamodb:UpdateItem') && each.endsWith(`table/${name}`)),
      ).toBe(true);
    }
  });

  it('names them in its outputs, and the keys of backends', () => {
    template.hasOutput('TableName', { Value: 'messages-1' });
    template.hasOutput('SessionsTableName', { Value: 'sessions-1' });
    template.hasOutput('PublishKeysArn', { Value: KEYS });
  });
});

it('the history of streams is adopted beside them', () => {
  const adopt = { tableName: 'm', sessionsTableName: 's', streamsTableName: 'h' };
  const { template } = synthBroker({ streams: STREAMS, table: { adopt } });
  template.resourceCountIs('AWS::DynamoDB::Table', 0);
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ APUS_STREAMS_TABLE_NAME: 'h' }) },
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'WriteThrottleEvents',
    Dimensions: [{ Name: 'TableName', Value: 'h' }],
  });
  const permissions = permissionsOf(template, 'BrokerGatewayRole');
  expect(permissions.some((each) => each.startsWith('dynamodb:PutItem') && each.endsWith('table/h'))).toBe(
    true,
  );
});

it('the table of rooms is the table of streams, and is adopted where only presence is deployed', () => {
  const adopt = { tableName: 'm', sessionsTableName: 's', streamsTableName: 'h' };
  const given = { adoptTable: 'm', adoptSessionsTable: 's', adoptStreamsTable: 'h', presence: 'true' };
  for (const template of [synthBroker({ presence: true, table: { adopt } }).template, synthApp(given)]) {
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ APUS_STREAMS_TABLE_NAME: 'h' }) },
    });
  }
});

it('tables have a tag with their role: their keys are the same', () => {
  const { template } = synthBroker({ streams: STREAMS });
  for (const held of ['messages', 'sessions', 'streams']) {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      Tags: Match.arrayWith([{ Key: 'apus:table', Value: held }]),
    });
  }
});

describe('a table that cannot be adopted', () => {
  const adopt = { tableName: 'm', sessionsTableName: 's' };
  it('is refused', () => {
    expect(() => synthApp({ adoptTable: 'm' })).toThrow(
      '--adopt-table and --adopt-sessions-table need each other',
    );
    expect(() => synthBroker({ table: { adopt: { ...adopt, sessionsTableName: 'm' } } })).toThrow(
      'table.adopt names different tables',
    );
    expect(() => synthApp({ adoptStreamsTable: 'h' })).toThrow('--adopt-streams-table both of them');
    expect(() => synthApp({ adoptTable: 'm', adoptSessionsTable: 's', adoptStreamsTable: 'h' })).toThrow(
      '--adopt-streams-table means nothing without --streams or --presence.',
    );
    const streamsTableName = 'h';
    expect(() => synthBroker({ table: { adopt: { ...adopt, streamsTableName } } })).toThrow(
      'table.adopt.streamsTableName means nothing without streams or presence.',
    );
    expect(() =>
      synthBroker({ streams: STREAMS, table: { adopt: { ...adopt, streamsTableName: 's' } } }),
    ).toThrow('table.adopt names different tables');
    expect(() => synthBroker({ table: { adopt, pointInTimeRecovery: true } })).toThrow(
      'table.pointInTimeRecovery is for tables that the broker makes; those of table.adopt stay as they are.',
    );
    expect(() =>
      synthBroker((stack) => ({
        publishKeysSecret: Secret.fromSecretCompleteArn(stack, 'Keys', KEYS),
        httpPublish: 'iam',
      })),
    ).toThrow("publishKeysSecret means nothing without httpPublish: 'keys'.");
  });
});
