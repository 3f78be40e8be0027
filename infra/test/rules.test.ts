import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { rulesEntryOf } from '../lib/rules.ts';
import { permissionsOf } from './support/statements.ts';
import { newOutdir, synthApp, synthBroker } from './support/synth.ts';

const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:hook-a1B2c3';
const HOOK = {
  name: 'hot',
  filter: 'sensors/#',
  when: 'payload.t > 80.0',
  to: { webhook: { url: 'https://example.com/hook', secret: { secretArn: SECRET } } },
};
const OTHERS = [
  {
    name: 'orders',
    tenant: 'acme',
    filter: 'orders/#',
    to: { sqs: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo' } },
  },
  { name: 'bus', filter: 'b', to: { eventBridge: { bus: 'apus' } } },
  { name: 'call', filter: 'c', to: { lambda: { function: 'called', region: 'eu-central-1' } } },
  { name: 'again', filter: 'd', to: { publish: { topic: 'e/{1}' } } },
  {
    name: 'things',
    filter: 'f/+',
    to: {
      iotCore: {
        endpoint: 'a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com',
        topic: 'things/{2}/set',
        retain: true,
      },
    },
  },
];

describe('a broker with rules', () => {
  const { template, broker } = synthBroker({ rules: [HOOK, ...OTHERS] });

  it('has a queue in which each rule and topic keeps its order, and dead letters for two weeks', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      VisibilityTimeout: 270,
      MessageRetentionPeriod: 1_209_600,
      RedrivePolicy: Match.absent(),
    });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BrokerRulesQueue'), 'Arn'] },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 20 },
    });
  });

  it('tells every function the filters, and one the rules', () => {
    const variablesOf = (description: string) =>
      Object.values(template.findResources('AWS::Lambda::Function')).find(
        ({ Properties }) => Properties.Description === description,
      )?.Properties.Environment.Variables;
    const filters = [
      ['default', 'hot', 'sensors/#'],
      ['acme', 'orders', 'orders/#'],
      ['default', 'bus', 'b'],
      ['default', 'call', 'c'],
      ['default', 'again', 'd'],
      ['default', 'things', 'f/+'],
    ];
    const gateway = variablesOf('Apus: handshakes and frames of clients');
    expect(JSON.parse(gateway.APUS_RULE_FILTERS)).toEqual(filters);
    expect(gateway.APUS_RULES).toBeUndefined();
    const rules = variablesOf('Apus: messages that leave by rules');
    expect(JSON.parse(rules.APUS_RULES)).toEqual([HOOK, ...OTHERS]);
  });

  it('may use its targets, and nothing else', () => {
    const all = permissionsOf(template, 'BrokerRulesRole');
    const own = all.filter((each) => /^(events|iot|lambda|secretsmanager)|orders/.test(each));
    expect(own).toEqual([
      'events:PutEvents arn:{AWS::Partition}:events:{AWS::Region}:{AWS::AccountId}:event-bus/apus',
      'iot:Publish arn:{AWS::Partition}:iot:eu-west-1:{AWS::AccountId}:topic/things/*/set',
      'iot:RetainPublish arn:{AWS::Partition}:iot:eu-west-1:{AWS::AccountId}:topic/things/*/set',
      'lambda:InvokeFunction arn:{AWS::Partition}:lambda:eu-central-1:{AWS::AccountId}:function:called',
      `secretsmanager:GetSecretValue ${SECRET}`,
      'sqs:SendMessage arn:{AWS::Partition}:sqs:eu-west-1:123456789012:orders.fifo',
    ]);
    expect(all).toContain('sqs:DeleteMessage {BrokerRulesDeadLetters}');
    expect(permissionsOf(template, 'BrokerGatewayRole')).toContain('sqs:SendMessage {BrokerRulesQueue}');
    expect(broker.rules).toBeDefined();
  });

  it('waits while the breaker has tripped', () => {
    const sources = permissionsOf(template, 'BrokerBreakerRole').filter((each) =>
      /UpdateEventSource/.test(each),
    );
    expect(sources.map((each) => each.split('{').at(-1))).toEqual([
      'BrokerFanOutSource}',
      'BrokerRulesSource}',
    ]);
  });

  it('has alarms for rules that fail, are late, and give messages up', () => {
    for (const anchor of ['rule-errors', 'rule-dead-letters', 'rule-delay'])
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmDescription: Match.stringLikeRegexp(`docs/runbook.md#${anchor}$`),
      });
  });
});

it('a broker without rules pays nothing for them', () => {
  const { template, broker } = synthBroker();
  template.resourceCountIs('AWS::SQS::Queue', 4);
  expect(JSON.stringify(template.toJSON())).not.toMatch(/APUS_RULE|RulesQueue/);
  expect(broker.rules).toBeUndefined();
});

it('takes a queue of the same app, which its owner grants', () => {
  const { template } = synthBroker(
    (stack) => {
      const queue = new Queue(stack, 'Jobs');
      return { rules: [{ name: 'jobs', filter: 'jobs/#', to: { sqs: { queueUrl: queue.queueUrl } } }] };
    },
    (broker, stack) => {
      const queue = stack.node.findChild('Jobs') as Queue;
      if (broker.rules !== undefined) queue.grantSendMessages(broker.rules);
    },
  );
  expect(permissionsOf(template, 'BrokerRulesRole')).toContain('sqs:SendMessage {Jobs}');
});

describe('a rule to Kafka', () => {
  const PASSWORD = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:kafka-a1B2c3';
  const NETWORK = { subnets: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'], securityGroups: ['sg-0a1b2c3d'] };
  const kafkaRule = (fields: object = {}, name = 'out') => ({
    name,
    filter: 'orders/#',
    to: {
      kafka: {
        brokers: ['b-1.example:9096'],
        topic: 'orders',
        tls: {},
        sasl: { mechanism: 'SCRAM-SHA-512', username: 'apus', password: { secretArn: PASSWORD } },
        ...fields,
      },
    },
  });

  it('has a function with the client of Kafka, which may read the password', () => {
    expect([rulesEntryOf([HOOK, kafkaRule()]), rulesEntryOf([HOOK])]).toEqual(['rulesKafka', 'rules']);
    const { template } = synthBroker({ rules: [kafkaRule()] });
    const permissions = permissionsOf(template, 'BrokerRulesRole');
    expect(permissions).toContain(`secretsmanager:GetSecretValue ${PASSWORD}`);
    expect(permissions.filter((each) => each.startsWith('ec2:'))).toEqual([]);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: messages that leave by rules',
      VpcConfig: Match.absent(),
    });
  });

  it('has it in the subnets from which the cluster is reached', () => {
    const { template } = synthBroker({ rules: [kafkaRule({ aws: NETWORK }), kafkaRule({}, 'other'), HOOK] });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: messages that leave by rules',
      VpcConfig: { SubnetIds: NETWORK.subnets, SecurityGroupIds: NETWORK.securityGroups },
    });
    expect(permissionsOf(template, 'BrokerRulesRole')).toContain('ec2:CreateNetworkInterface *');
  });

  it('is refused with other subnets than those of another one', () => {
    const rules = [
      kafkaRule({ aws: NETWORK }),
      kafkaRule({ aws: { ...NETWORK, subnets: ['subnet-2a1b2c3d'] } }, 'other'),
    ];
    expect(() => synthBroker({ rules })).toThrow('one function sends for all rules');
  });
});

it.each<[string, object[], string]>([
  ['a condition that is none', [{ ...HOOK, when: 'payload >' }], 'rules[0].when is no CEL expression'],
  [
    'a webhook that leads inside',
    [{ ...HOOK, to: { webhook: { url: 'http://10.0.0.1/' } } }],
    'leads to 10.0.0.1, which is inside',
  ],
  [
    'too much for a function',
    Array.from({ length: 30 }, (_, index) => ({ ...HOOK, name: `rule-${index}` })),
    'as JSON, and a function takes 2048',
  ],
])('%s is refused at synthesis', (_, rules, sentence) => {
  expect(() => synthBroker({ rules: rules as never })).toThrow(sentence);
});

it('rules and streams that are too large together for a function are refused at synthesis', () => {
  const rules = Array.from({ length: 8 }, (_, index) => ({ ...HOOK, name: `rule-${index}` }));
  const streams = Array.from({ length: 22 }, (_, index) => {
    return { name: `stream-number-${index}`, topicFilter: `topics/of/stream/${index}/#`, messagesMax: 100 };
  });
  expect(() => synthBroker({ rules, streams })).toThrow(
    /the variables of the function Rules have \d+ bytes, and Lambda takes 4096/,
  );
});

it('a deployment takes the file of apus serve, and says the name of the function', () => {
  const file = join(newOutdir(), 'rules.json');
  writeFileSync(file, JSON.stringify({ rules: [HOOK] }));
  const { Outputs } = synthApp({ rules: file }).toJSON();
  expect(Outputs.RulesName.Value).toEqual({ Ref: expect.stringMatching(/^BrokerRules/) });
});
