import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Match } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

const HASH = '0123456789abcdef'.repeat(4);
const OF_API = { Description: 'Apus: the HTTP API of operators' };
const KEYED = { httpApi: { keysSha256: [HASH] } };

describe('the HTTP API of operators', () => {
  it('does not exist by default', () => {
    const { template, broker } = synthBroker();
    template.resourceCountIs('AWS::Lambda::Url', 0);
    expect(() => broker.httpApiUrl).toThrow('httpApi is false');
  });

  it('takes signed requests of callers that have the permission, and of no page', () => {
    const { template } = synthBroker({ httpApi: 'iam' }, (broker, stack) => {
      broker.grantApi(new Role(stack, 'Admin', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') }));
    });
    template.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'AWS_IAM', Cors: Match.absent() });
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('^Admin'),
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: 'lambda:InvokeFunctionUrl' })]),
      },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      ...OF_API,
      Environment: { Variables: Match.not(Match.objectLike({ APUS_API_KEYS_SHA256: Match.anyValue() })) },
    });
  });

  it('stores only the hash of a key, needs no secret, and costs nothing while idle', () => {
    const { template, broker } = synthBroker(KEYED);
    const before = synthBroker().template;
    template.hasResourceProperties('AWS::Lambda::Function', {
      ...OF_API,
      Environment: { Variables: Match.objectLike({ APUS_API_KEYS_SHA256: HASH }) },
    });
    for (const type of [
      'AWS::SecretsManager::Secret',
      'AWS::DynamoDB::Table',
      'AWS::SQS::Queue',
      'AWS::Events::Rule',
    ])
      expect(Object.keys(template.findResources(type))).toEqual(Object.keys(before.findResources(type)));
    expect(() => broker.grantApi({} as never)).toThrow("grantApi is for httpApi: 'iam'");
  });

  it('knows the function of rules, and the topics that the owner describes', () => {
    const rule = { name: 'hot', filter: 'a', to: { webhook: { url: 'https://example.com/' } } };
    const topics = { topics: [{ topic: 'sensors/{id}', description: 'Of the plant' }] };
    const made = synthBroker({ ...KEYED, rules: [rule], topics });
    made.template.hasResourceProperties('AWS::Lambda::Function', {
      ...OF_API,
      Layers: [{ Ref: Match.stringLikeRegexp('^BrokerDescribedTopics') }],
      Environment: {
        Variables: Match.objectLike({
          APUS_RULES_FUNCTION_ARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BrokerRules'), 'Arn'] },
          APUS_DESCRIBED_TOPICS: 'apus-described-topics',
          APUS_CLIENT_URL: Match.absent(),
        }),
      },
    });
    const { directory } = made.app.synth();
    const layer = readdirSync(directory)
      .map((name) => join(directory, name, 'nodejs', 'node_modules', 'apus-described-topics'))
      .find((folder) => existsSync(folder));
    expect(createRequire(import.meta.url)(layer ?? '')).toMatchObject({
      topics: [{ topic: 'sensors/{id}', topicFilter: 'sensors/+', description: 'Of the plant' }],
    });
    // Without the API nothing answers the document.
    synthBroker({ topics }).template.resourceCountIs('AWS::Lambda::LayerVersion', 0);
  });

  const variablesOf = (props: Parameters<typeof synthBroker>[0]) => {
    const functions = synthBroker(props).template.findResources('AWS::Lambda::Function', {
      Properties: OF_API,
    });
    return Object.values(functions)[0]?.Properties.Environment.Variables as Readonly<Record<string, unknown>>;
  };

  it('knows the limits and the stage of the breaker, and none where the owner wants none', () => {
    const breaker = { messagesPerMinuteMax: 5_000, resetMinutes: 0 };
    const given = JSON.stringify(
      variablesOf({ ...KEYED, breaker, throttle: { framesPerSecond: 50 } }).APUS_BREAKER,
    ).replaceAll('\\', '');
    for (const part of [
      '"stageName":"mqtt"',
      '"framesPerSecond":50,"trippedFramesPerSecond":1',
      '"messagesPerMinuteMax":5000,"resetMinutes":0',
    ])
      expect(given).toContain(part);
    expect(variablesOf({ ...KEYED, breaker: false })).not.toHaveProperty('APUS_BREAKER');
  });

  it('knows the bridges, as no other part of a deployment reports them to an operator', () => {
    const kafka = [
      {
        ...{ name: 'orders', tenant: 'acme', kafka: { brokers: ['b-1.example:9096', 'b-2.example:9096'] } },
        in: [{ topic: 'orders', to: 'orders/{key}' }],
      },
    ];
    const iotCore = [{ name: 'things', iotCore: {}, in: [{ filter: 'sensors/#' }, { filter: 'doors/+' }] }];
    expect(JSON.parse(String(variablesOf({ ...KEYED, kafka, iotCore }).APUS_BRIDGES))).toEqual([
      {
        ...{ tenant: 'acme', name: 'orders', type: 'kafka', group: 'apus-orders' },
        remote: 'b-1.example:9096, b-2.example:9096',
      },
      { tenant: 'default', name: 'things', type: 'iot-core', remote: 'sensors/#, doors/+' },
    ]);
    expect(variablesOf(KEYED)).not.toHaveProperty('APUS_BRIDGES');
    const many = Array.from({ length: 30 }, (_, index) => ({
      ...{ name: `orders-${index}`, kafka: { brokers: ['broker-with-a-long-name.example:9096'] } },
      in: [{ topic: 'orders', to: 'orders/{key}' }],
    }));
    expect(() => synthBroker({ ...KEYED, kafka: many })).toThrow('the list of bridges has');
    expect(() => synthBroker({ kafka: many })).not.toThrow();
  });

  it('refuses descriptions that no answer of Lambda could hold', () => {
    const examples = ['x'.repeat(600_000)];
    const topics = {
      topics: Array.from({ length: 8 }, (_, index) => ({ topic: `t/${index}`, examples })),
    };
    expect(() => synthBroker({ ...KEYED, topics })).toThrow('an answer of Lambda has no more');
    expect(() => synthBroker({ topics })).not.toThrow();
  });

  it('can be called by the pages that may connect, if they send the key', () => {
    const origins = (props: object) => {
      const [url] = Object.values(synthBroker(props).template.findResources('AWS::Lambda::Url'));
      return url?.Properties.Cors;
    };
    expect(origins(KEYED)).toMatchObject({ AllowOrigins: ['*'] });
    expect(origins(KEYED).AllowCredentials).toBeUndefined();
    const allowedOrigins = ['https://app.example.com'];
    expect(origins({ ...KEYED, allowedOrigins })).toMatchObject({ AllowOrigins: allowedOrigins });
  });

  it('gets as many environments as are reserved for it [SEC-API-1]', () => {
    const { template } = synthBroker({ ...KEYED, apiReservedConcurrency: 3 });
    template.hasResourceProperties('AWS::Lambda::Function', { ...OF_API, ReservedConcurrentExecutions: 3 });
  });

  it('has alarms for failures and for refused requests [SEC-API-1]', () => {
    const alarms = Object.values(synthBroker(KEYED).template.findResources('AWS::CloudWatch::Alarm'));
    const refused = alarms.filter(({ Properties }) => Properties.MetricName === 'Url4xxCount');
    expect(refused.map(({ Properties }) => Properties)).toMatchObject([
      { Threshold: 60, EvaluationPeriods: 3 },
    ]);
  });

  it.each([
    [{ httpApi: { keysSha256: ['the key itself'] } }, 'no SHA-256 in hex'],
    [{ httpApi: { keysSha256: [] } }, 'has 0 keys'],
    [{ httpApi: { keysSha256: Array.from({ length: 11 }, () => HASH) } }, 'has 11 keys'],
    [{ apiReservedConcurrency: 3 }, 'means nothing without httpApi'],
  ] as const)('refuses %j, and does not repeat what may be a key', (props, message) => {
    expect(() => synthBroker(props)).toThrow(message);
    expect(() => synthBroker(props)).not.toThrow('the key itself has');
  });
});
