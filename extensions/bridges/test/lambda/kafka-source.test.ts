import { describe, expect, it } from 'vitest';
import { readBridges } from '../../src/index.ts';
import { readKafkaSources } from '../../src/lambda/kafka-source.ts';

const IN = { topic: 'prices', to: 'prices/{key}' };
const ARN = 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2';
const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:AmazonMSK_market-a1B2c3';

const bridge = (aws: object = {}, connection: object = {}, fields: object = {}) => ({
  name: 'market',
  kafka: { aws, ...connection },
  in: [IN],
  ...fields,
});
const BROKERS = { brokers: ['kafka.example:9092'] };

describe('a bridge of a deployment', () => {
  it('reads from MSK by the ARN of its cluster, or from brokers', () => {
    expect(
      readKafkaSources([bridge({ clusterArn: ARN }), bridge({}, BROKERS, { name: 'own' })], 'bridges'),
    ).toMatchObject([
      {
        name: 'market',
        group: 'apus-market',
        from: 'earliest',
        brokers: undefined,
        aws: { clusterArn: ARN },
      },
      { name: 'own', brokers: BROKERS.brokers, aws: { clusterArn: undefined, batchSize: 100 } },
    ]);
  });

  it('may be in the file of a node, which ignores the fields for AWS', () => {
    const place = { where: 'f', directory: '.', environment: {}, nowMs: 0 };
    const given = bridge({ secretArn: SECRET, authentication: 'SASL_SCRAM_512_AUTH' }, BROKERS);
    expect(readBridges({ bridges: [given] }, place)).toMatchObject([{ name: 'market', kind: 'kafka' }]);
    const wrong = bridge({ secretArn: SECRET }, BROKERS);
    expect(() => readBridges({ bridges: [wrong] }, place)).toThrow(
      'f: bridges[0].kafka.aws.authentication is missing',
    );
  });

  it.each<[string, object, string]>([
    ['another MQTT broker', { name: 'x', mqtt: { url: 'mqtt://a' } }, 'bridges[0].mqtt is for the node'],
    [
      'records that leave',
      bridge({ clusterArn: ARN }, {}, { out: [{ filter: 'a', topic: 'b' }] }),
      'bridges[0].out is for the node',
    ],
    ['no mapping', bridge({ clusterArn: ARN }, {}, { in: [] }), 'bridges[0].in is empty'],
    ['neither cluster nor brokers', bridge(), 'bridges[0].kafka.brokers is missing'],
    ['an ARN that is none', bridge({ clusterArn: 'market' }), 'kafka.aws.clusterArn has to be an ARN'],
    [
      'a secret without its way',
      bridge({ clusterArn: ARN, secretArn: SECRET }),
      'kafka.aws.authentication is missing',
    ],
    [
      'a way without its secret',
      bridge({ clusterArn: ARN, authentication: 'BASIC_AUTH' }),
      'kafka.aws.secretArn is missing',
    ],
    ['a way that is none', bridge({ authentication: 'PLAIN' }), 'authentication has to be one of'],
    [
      'a password that Lambda cannot read',
      bridge({}, { ...BROKERS, sasl: { mechanism: 'PLAIN', username: 'u', password: { env: 'P' } } }),
      'kafka.aws.secretArn is missing: Lambda takes the password of "sasl" from a secret',
    ],
    [
      'subnets without security groups',
      bridge({ subnets: ['subnet-1'] }, BROKERS),
      'kafka.aws.securityGroups is missing',
    ],
    [
      'subnets at MSK',
      bridge({ clusterArn: ARN, subnets: ['subnet-1'], securityGroups: ['sg-1'] }),
      'kafka.aws.subnets are not for MSK',
    ],
    ['too large batches', bridge({ clusterArn: ARN, batchSize: 1_001 }), 'batchSize has to be'],
    ['a field that is none', bridge({ cluster: ARN }), 'has no field "cluster"'],
  ])('refuses %s', (_, given, sentence) => {
    expect(() => readKafkaSources([given], 'bridges')).toThrow(sentence);
  });

  it('has a unique name', () => {
    const one = bridge({ clusterArn: ARN });
    expect(() => readKafkaSources([one, one], 'bridges')).toThrow('there are two "market"');
  });
});
