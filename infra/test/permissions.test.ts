import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthBroker } from './support/synth.ts';

const { template } = synthBroker();

const CONNECTIONS = 'arn:{AWS::Partition}:execute-api:{AWS::Region}:{AWS::AccountId}:{BrokerApi}/mqtt';

const QUEUE_SEND = ['GetQueueAttributes', 'GetQueueUrl', 'SendMessage'];

/** The permissions of every function with a broker. */
const BROKER = [
  ...['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'].flatMap(
    (action) => [`dynamodb:${action} {BrokerTable}`, `dynamodb:${action} {BrokerSessionsTable}`],
  ),
  `execute-api:ManageConnections ${CONNECTIONS}/DELETE/@connections/*`,
  `execute-api:ManageConnections ${CONNECTIONS}/POST/@connections/*`,
  ...QUEUE_SEND.map((action) => `sqs:${action} {BrokerFanOutQueue}`),
  ...QUEUE_SEND.map((action) => `sqs:${action} {BrokerTimersQueue}`),
];

const LOOK = `execute-api:ManageConnections ${CONNECTIONS}/GET/@connections/*`;

function logs(id: string): string[] {
  return ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} {Broker${id}Logs}`);
}

function consume(id: string): string[] {
  const receive = ['ChangeMessageVisibility', 'DeleteMessage', 'ReceiveMessage'];
  return [
    ...receive.map((action) => `sqs:${action} {Broker${id}Queue}`),
    ...['GetQueueAttributes', 'GetQueueUrl'].map((action) => `sqs:${action} {Broker${id}Queue}`),
    ...QUEUE_SEND.map((action) => `sqs:${action} {Broker${id}DeadLetters}`),
  ];
}

const READ_KEYS = ['secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue'].map(
  (action) => `${action} {BrokerPublishKeys}`,
);

const STOP_BACKENDS = ['lambda:DeleteFunctionConcurrency', 'lambda:PutFunctionConcurrency'].map(
  (action) => `${action} {BrokerPublish}`,
);

const READ_SECRET = ['secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue'].map(
  (action) => `${action} {BrokerTokenSecret}`,
);

/** CloudWatch has no resource for the metrics of one namespace. */
const READ_METRICS = 'cloudwatch:GetMetricData *';

const READ_STAGE =
  'apigateway:GET arn:{AWS::Partition}:apigateway:{AWS::Region}::/apis/{BrokerApi}/stages/mqtt';

const BREAKER = [
  READ_STAGE,
  'apigateway:PATCH arn:{AWS::Partition}:apigateway:{AWS::Region}::/apis/{BrokerApi}/stages/mqtt',
  'lambda:UpdateEventSourceMapping arn:{AWS::Partition}:lambda:{AWS::Region}:{AWS::AccountId}:event-source-mapping:{BrokerFanOutSource}',
  'sns:Publish {BrokerAlarmTopic}',
];

describe('each function may do only its own work', () => {
  it.each([
    ['Gateway', [...BROKER, ...READ_SECRET]],
    ['Disconnect', BROKER],
    ['FanOut', [...BROKER, ...consume('FanOut'), LOOK]],
    ['Timers', [...BROKER, ...consume('Timers'), LOOK]],
    ['Sweep', [...BROKER, 'dynamodb:Scan {BrokerTable}', 'dynamodb:Scan {BrokerSessionsTable}', LOOK]],
    ['Operator', [...BROKER, 'dynamodb:Scan {BrokerSessionsTable}']],
    ['Breaker', BREAKER],
  ])('%s', (id, expected) => {
    const permissions = new Set(permissionsOf(template, `Broker${id}Role`));
    expect([...permissions]).toEqual([...new Set([...expected, ...logs(id)])].sort());
  });

  it.each([
    ['Publish', [...BROKER, ...READ_KEYS]],
    ['Breaker', [...BREAKER, ...STOP_BACKENDS]],
  ])('%s, where backends publish with keys', (id, expected) => {
    const { template: keyed } = synthBroker({ httpPublish: 'keys' });
    const permissions = new Set(permissionsOf(keyed, `Broker${id}Role`));
    expect([...permissions]).toEqual([...new Set([...expected, ...logs(id)])].sort());
  });

  it('HttpApi has, if operators have keys, the permissions of the operator’s function, and reads no secret', () => {
    const { template: keyed } = synthBroker({ httpApi: { keysSha256: ['0'.repeat(64)] } });
    const permissions = new Set(permissionsOf(keyed, 'BrokerHttpApiRole'));
    const scan = 'dynamodb:Scan {BrokerSessionsTable}';
    const expected = [...BROKER, scan, ...logs('HttpApi'), READ_METRICS, READ_STAGE];
    expect([...permissions]).toEqual([...new Set(expected)].sort());
  });

  it('HttpApi may read no stage where there is no breaker, and change none where there is one', () => {
    const of = (breaker: object | false) => {
      const { template: keyed } = synthBroker({ httpApi: 'iam', breaker });
      return permissionsOf(keyed, 'BrokerHttpApiRole').filter((each) => each.startsWith('apigateway:'));
    };
    expect(of(false)).toEqual([]);
    expect(of({})).toEqual([READ_STAGE]);
  });

  it('HttpApi may call the function of rules where there is one, and no queue of theirs but to send', () => {
    const rule = { name: 'hot', filter: 'a', to: { webhook: { url: 'https://example.com/' } } };
    const { template: ruled } = synthBroker({ httpApi: 'iam', rules: [rule] });
    const permissions = permissionsOf(ruled, 'BrokerHttpApiRole');
    expect(permissions.filter((each) => each.startsWith('lambda:'))).toEqual([
      'lambda:InvokeFunction {BrokerRules}',
    ]);
    expect(permissions.filter((each) => /Receive|Delete/.test(each) && each.startsWith('sqs:'))).toEqual([]);
  });

  it('no role has a policy of AWS attached, and only Lambda may take one', () => {
    for (const role of Object.values(template.findResources('AWS::IAM::Role'))) {
      expect(role.Properties.ManagedPolicyArns).toBeUndefined();
      expect(role.Properties.AssumeRolePolicyDocument.Statement).toEqual([
        { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
      ]);
    }
  });
});
