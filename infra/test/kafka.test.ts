import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { newOutdir, synthApp, synthBroker } from './support/synth.ts';

const CLUSTER = 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2';
const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:AmazonMSK_market-a1B2c3';
const MSK = {
  name: 'market',
  kafka: { aws: { clusterArn: CLUSTER } },
  in: [{ topic: 'prices', to: 'prices/{key}' }],
};
const OWN = {
  name: 'own-1',
  tenant: 'acme',
  kafka: {
    brokers: ['kafka-1.example:9096', 'kafka-2.example:9096'],
    group: 'apus',
    from: 'latest' as const,
    aws: {
      secretArn: SECRET,
      authentication: 'SASL_SCRAM_512_AUTH' as const,
      subnets: ['subnet-1', 'subnet-2'],
      securityGroups: ['sg-1'],
      batchSize: 500,
      batchWindowSeconds: 1,
    },
  },
  in: [
    { topic: 'orders', to: 'orders/{key}' },
    { topic: 'values', to: 'values/{key}', retain: true },
  ],
};

function mappingsOf(template: Template): readonly unknown[] {
  return Object.values(template.findResources('AWS::Lambda::EventSourceMapping'))
    .map(({ Properties }) => Properties)
    .filter(({ Topics }) => Topics !== undefined);
}

describe('a broker with bridges from Kafka', () => {
  const { template } = synthBroker({ kafka: [MSK, OWN] });

  it('has an event source mapping for each topic', () => {
    const Tags = [{ Key: 'apus:broker', Value: 'Test/Broker' }];
    const own = (topic: string) => ({
      BatchSize: 500,
      FunctionName: { Ref: 'BrokerKafkaownx2d10EF8FBF7' },
      MaximumBatchingWindowInSeconds: 1,
      SelfManagedEventSource: {
        Endpoints: { KafkaBootstrapServers: ['kafka-1.example:9096', 'kafka-2.example:9096'] },
      },
      SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: `apus-${topic}` },
      SourceAccessConfigurations: [
        {
          Type: 'SASL_SCRAM_512_AUTH',
          URI: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:AmazonMSK_market-a1B2c3',
        },
        { Type: 'VPC_SUBNET', URI: 'subnet:subnet-1' },
        { Type: 'VPC_SUBNET', URI: 'subnet:subnet-2' },
        { Type: 'VPC_SECURITY_GROUP', URI: 'security_group:sg-1' },
      ],
      StartingPosition: 'LATEST',
      Tags,
      Topics: [topic],
    });
    expect(mappingsOf(template)).toEqual([
      {
        AmazonManagedKafkaEventSourceConfig: { ConsumerGroupId: 'apus-market' },
        BatchSize: 100,
        EventSourceArn: 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2',
        FunctionName: { Ref: 'BrokerKafkamarket9BAA4F82' },
        StartingPosition: 'TRIM_HORIZON',
        Tags,
        Topics: ['prices'],
      },
      own('orders'),
      own('values'),
    ]);
  });

  it('has a function for each bridge, with the mappings of its topics', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: records of Kafka, bridge own-1',
      Environment: {
        Variables: Match.objectLike({
          APUS_KAFKA: JSON.stringify({ name: 'own-1', tenant: 'acme', in: OWN.in }),
          APUS_TABLE_NAME: Match.anyValue(),
        }),
      },
    });
  });

  it('reads MSK by the role of the function, and nothing but its topics and group', () => {
    const allowed = permissionsOf(template, 'BrokerKafkamarketRole').filter((each) =>
      /^(kafka|ec2|secretsmanager)/.test(each),
    );
    const arn = 'arn:aws:kafka:eu-west-1:123456789012';
    expect(allowed.filter((each) => each.startsWith('kafka'))).toEqual([
      `kafka-cluster:AlterGroup ${arn}:group/market/0a1b-2/apus-market`,
      `kafka-cluster:Connect ${CLUSTER}`,
      `kafka-cluster:DescribeClusterDynamicConfiguration ${CLUSTER}`,
      `kafka-cluster:DescribeGroup ${arn}:group/market/0a1b-2/apus-market`,
      `kafka-cluster:DescribeTopic ${arn}:topic/market/0a1b-2/prices`,
      `kafka-cluster:ReadData ${arn}:topic/market/0a1b-2/prices`,
      `kafka:DescribeCluster ${CLUSTER}`,
      `kafka:DescribeClusterV2 ${CLUSTER}`,
      `kafka:GetBootstrapBrokers ${CLUSTER}`,
    ]);
  });

  it('reads another cluster with the secret, from its subnets', () => {
    const allowed = permissionsOf(template, 'BrokerKafkaownx2d1Role');
    expect(allowed).toContain(`secretsmanager:GetSecretValue ${SECRET}`);
    expect(allowed).toContain('ec2:CreateNetworkInterface *');
    expect(allowed.filter((each) => each.startsWith('kafka'))).toEqual([]);
  });

  it('has an alarm for a bridge that stands still, and one for records that are left out', () => {
    for (const [description, anchor] of [
      ['Records of Kafka could not be published.', 'kafka-errors'],
      ['Records of Kafka could be no message, and were left out.', 'kafka-records-skipped'],
    ])
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmDescription: `${description} docs/runbook.md#${anchor}`,
      });
  });
});

it('a broker without bridges has no function for them, and no alarm', () => {
  const { template } = synthBroker();
  expect(mappingsOf(template)).toEqual([]);
  expect(JSON.stringify(template.toJSON())).not.toContain('Kafka');
});

it('a bridge that a deployment does not support is refused at synthesis', () => {
  const kafka = [{ ...MSK, out: [{ filter: 'a', topic: 'b' }] }];
  expect(() => synthBroker({ kafka })).toThrow('kafka[0].out is for the node');
  const long = Array.from({ length: 50 }, (_, index) => ({
    topic: `topic-${index}`,
    to: `long/${index}/{key}`,
  }));
  expect(() => synthBroker({ kafka: [{ ...MSK, in: long }] })).toThrow('and a function takes 2048');
});

it('a deployment takes the file of apus serve', () => {
  const file = join(newOutdir(), 'bridges.json');
  writeFileSync(file, JSON.stringify({ bridges: [MSK] }));
  expect(mappingsOf(synthApp({ bridges: file }))).toHaveLength(1);
});
