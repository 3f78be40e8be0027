import { defineTable, TTL_ATTRIBUTE } from '@apus/store-dynamodb';
import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Key } from 'aws-cdk-lib/aws-kms';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

const { template } = synthBroker();

function variablesOf(from: typeof template, idPrefix: string): Record<string, unknown> {
  const [found] = Object.entries(from.findResources('AWS::Lambda::Function')).filter(([id]) =>
    new RegExp(`^${idPrefix}[0-9A-F]{8}$`).test(id),
  );
  if (found === undefined) throw new Error(`no function ${idPrefix}`);
  return found[1].Properties.Environment.Variables;
}

describe('the API', () => {
  it('is a WebSocket API with the stage mqtt, throttled low', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { ProtocolType: 'WEBSOCKET' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: 'mqtt',
      DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 },
      AccessLogSettings: Match.absent(),
    });
  });

  it('answers a frame in the route response of $default, and only there', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', {
      RouteKey: '$default',
      RouteResponseSelectionExpression: '$default',
    });
    template.resourceCountIs('AWS::ApiGatewayV2::RouteResponse', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::RouteResponse', { RouteResponseKey: '$default' });
  });

  it('takes signs of life at a route of their own, without a function and without an answer', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
      RouteSelectionExpression: '$request.body.action',
    });
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', {
      RouteKey: 'alive',
      RouteResponseSelectionExpression: Match.absent(),
    });
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', {
      IntegrationType: 'MOCK',
      RequestTemplates: { $default: '{"statusCode":200}' },
      TemplateSelectionExpression: '\\$default',
    });
  });

  it('has no such route where the functions do not take signs of life', () => {
    const { template: without } = synthBroker({ withoutExtensions: ['alive'] });
    const keys = Object.values(without.findResources('AWS::ApiGatewayV2::Route')).map(
      ({ Properties }) => Properties.RouteKey,
    );
    expect(keys.sort()).toEqual(['$connect', '$default', '$disconnect']);
  });

  it('has one function for $connect and $default, and another for $disconnect', () => {
    const uris = Object.entries(template.findResources('AWS::ApiGatewayV2::Integration')).map(
      ([id, { Properties }]) => [id.replace(/route.*/, ''), JSON.stringify(Properties.IntegrationUri)],
    );
    const byRoute = Object.fromEntries(uris);
    expect(byRoute.Brokerconnect).toBe(byRoute.Brokerdefault);
    expect(byRoute.Brokerconnect).toContain('BrokerGateway');
    expect(byRoute.Brokerdisconnect).toContain('BrokerDisconnect');
  });

  it('may be logged, without the token that is in the address', () => {
    const { template: logged } = synthBroker({ accessLogs: true });
    const [stage] = Object.values(logged.findResources('AWS::ApiGatewayV2::Stage'));
    const format = JSON.parse(stage?.Properties.AccessLogSettings.Format);
    expect(Object.values(format)).not.toContainEqual(expect.stringMatching(/path|query|requestOverride/i));
    logged.resourceCountIs('AWS::ApiGateway::Account', 1);
    const { template: hasRole } = synthBroker({ accessLogs: { setAccountRole: false } });
    hasRole.resourceCountIs('AWS::ApiGateway::Account', 0);
  });
});

describe('the functions', () => {
  it('run on arm64 with Node.js 24, and are not reserved any concurrency', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      Architectures: ['arm64'],
      Runtime: 'nodejs24.x',
      ReservedConcurrentExecutions: Match.absent(),
      LoggingConfig: Match.objectLike({ LogFormat: 'JSON', SystemLogLevel: 'WARN' }),
    });
    template.resourceCountIs('AWS::Lambda::Function', 7);
  });

  it('that handle frames end within five seconds', () => {
    for (const Description of ['Apus: handshakes and frames of clients', 'Apus: connections that ended']) {
      template.hasResourceProperties('AWS::Lambda::Function', { Description, Timeout: 5, MemorySize: 512 });
    }
  });

  it('know the table, the queues, and the address of @connections, which is never the domain of the owner', () => {
    const { template: own } = synthBroker((stack) => ({
      domain: {
        domainName: 'mqtt.example.com',
        certificate: Certificate.fromCertificateArn(stack, 'C', 'arn:aws:acm:eu-west-1:1:certificate/1'),
      },
    }));
    const variables = variablesOf(own, 'BrokerGateway');
    expect(variables).toMatchObject({
      APUS_TABLE_NAME: { Ref: expect.stringMatching(/^BrokerTable/) },
      APUS_SESSIONS_TABLE_NAME: { Ref: expect.stringMatching(/^BrokerSessionsTable/) },
      APUS_FAN_OUT_QUEUE_URL: { Ref: expect.stringMatching(/^BrokerFanOutQueue/) },
      APUS_TIMER_QUEUE_URL: { Ref: expect.stringMatching(/^BrokerTimersQueue/) },
      APUS_CONNECT_TIMEOUT_SECONDS: '30',
      APUS_LOG_LEVEL: 'warn',
    });
    expect(JSON.stringify(variables.APUS_MANAGEMENT_ENDPOINT)).toMatch(
      /https:\/\/.*BrokerApi.*execute-api.*\/mqtt/,
    );
  });

  it('have metrics of their own namespace', () => {
    expect(variablesOf(template, 'BrokerGateway').APUS_METRICS_NAMESPACE).toBe('Apus/Test/Broker');
  });

  it('get only the limits that differ from the defaults', () => {
    expect(variablesOf(template, 'BrokerGateway').APUS_LIMITS).toBeUndefined();
    const { template: limited } = synthBroker({ limits: { receiveMaximum: 7 } });
    expect(variablesOf(limited, 'BrokerFanOut').APUS_LIMITS).toBe('{"receiveMaximum":7}');
  });

  it('keep a concurrency that the owner reserves', () => {
    const { template: reserved } = synthBroker({ reservedConcurrency: 50 });
    reserved.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: handshakes and frames of clients',
      ReservedConcurrentExecutions: 50,
    });
  });
});

describe('the tables', () => {
  it('are those that the stores define', () => {
    const { TableName: _, ...defined } = defineTable('any');
    template.resourcePropertiesCountIs(
      'AWS::DynamoDB::Table',
      { ...defined, TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true } },
      2,
    );
  });

  it('is kept when the stack goes, unless its creation failed or the owner says otherwise', () => {
    const retained = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    template.hasResource('AWS::DynamoDB::Table', retained);
    template.hasResource('AWS::SecretsManager::Secret', retained);
    const { template: destroyed } = synthBroker({ removalPolicy: RemovalPolicy.DESTROY });
    destroyed.hasResource('AWS::DynamoDB::Table', { DeletionPolicy: 'Delete' });
    destroyed.hasResource('AWS::SecretsManager::Secret', { DeletionPolicy: 'Delete' });
  });

  it('has the features that the owner pays for', () => {
    const { template: dear } = synthBroker({
      table: { pointInTimeRecovery: true, deletionProtection: true, warmWriteUnitsPerSecond: 8_000 },
    });
    dear.hasResourceProperties('AWS::DynamoDB::Table', {
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      WarmThroughput: { WriteUnitsPerSecond: 8_000, ReadUnitsPerSecond: 24_000 },
    });
  });
});

describe('the queues', () => {
  it('of the fan-out is FIFO with high throughput, and so are its dead letters', () => {
    template.resourcePropertiesCountIs(
      'AWS::SQS::Queue',
      { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' },
      2,
    );
    template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      ContentBasedDeduplication: Match.absent(),
      VisibilityTimeout: 45,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 1_000 }),
    });
  });

  it('hand back single messages', () => {
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', 2);
    template.allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 10,
    });
  });

  it.each([
    [20, 2, '10'],
    [1_000, 2, '500'],
    [1_001, 3, '333'],
    [10_000, 20, '500'],
    [100_000, 200, '500'],
    [170_000, 256, '664'],
    [256_000, 256, '1000'],
  ])('a budget of %i posts a second is %i workers of %s', (maxPostsPerSecond, workers, each) => {
    const { template: paced } = synthBroker({ fanOut: { maxPostsPerSecond } });
    const [source] = Object.entries(paced.findResources('AWS::Lambda::EventSourceMapping')).filter(([id]) =>
      id.startsWith('BrokerFanOut'),
    );
    expect(source?.[1].Properties.ScalingConfig).toEqual({ MaximumConcurrency: workers });
    expect(variablesOf(paced, 'BrokerFanOut').APUS_POSTS_PER_SECOND).toBe(each);
  });

  it('the sweep runs every ten minutes', () => {
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(10 minutes)' });
  });
});

/** The configuration of the gateway's function, where nothing in it is known only at deployment. */
function identityIn(own: Template): unknown {
  return JSON.parse(variablesOf(own, 'BrokerGateway').APUS_IDENTITY as string);
}

describe('the clients that may connect', () => {
  it('have a token that is signed with a generated secret', () => {
    template.hasResourceProperties('AWS::SecretsManager::Secret', {
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
    });
    const variables = variablesOf(template, 'BrokerGateway');
    expect(JSON.stringify(variables.APUS_IDENTITY)).toContain('secretArn');
    expect(variables).not.toHaveProperty('APUS_AUTHENTICATION');
  });

  it('have a token that is signed with a secret of the owner', () => {
    const { template: own, broker } = synthBroker((stack) => ({
      authentication: { secret: Secret.fromSecretNameV2(stack, 'Own', 'own') },
    }));
    own.resourceCountIs('AWS::SecretsManager::Secret', 0);
    expect(broker.tokenSecret?.secretName).toBe('own');
    expect(JSON.stringify(variablesOf(own, 'BrokerGateway').APUS_IDENTITY)).toContain(':secret:own');
  });

  it('have a token of an identity provider', () => {
    const { template: own } = synthBroker({
      authentication: {
        jwksUrl: 'https://id.example.com/keys',
        issuer: 'https://id.example.com',
        audience: 'mqtt',
      },
    });
    own.resourceCountIs('AWS::SecretsManager::Secret', 0);
    expect(identityIn(own)).toEqual({
      authenticators: [
        {
          jwt: {
            jwksUrl: 'https://id.example.com/keys',
            issuer: 'https://id.example.com',
            audience: 'mqtt',
          },
        },
      ],
    });
  });

  it('are known to a chain of authenticators, whose secrets the function of handshakes may read', () => {
    const arn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:keys-a1B2c3';
    const { template: own, broker } = synthBroker({
      identity: {
        authenticators: [
          { jwt: { secretArn: 'generated' } },
          { cognito: { region: 'eu-west-1', userPoolId: 'eu-west-1_Ab', clientIds: ['app'] } },
          { apiKeys: { secretArn: arn } },
        ],
        cookie: 'session',
      },
      allowedOrigins: ['https://app.example.com'],
    });
    own.resourceCountIs('AWS::SecretsManager::Secret', 1);
    expect(broker.tokenSecret).toBeDefined();
    const variable = JSON.stringify(variablesOf(own, 'BrokerGateway').APUS_IDENTITY);
    expect(variable).toContain('BrokerTokenSecret');
    expect(variable).toContain(arn);
    expect(variable).not.toContain('generated');
    const policies = JSON.stringify(own.findResources('AWS::IAM::Policy'));
    expect(policies).toContain(arn);
  });

  it('are all clients, when the owner says so; and synthesis warns', () => {
    const { template: open, stack } = synthBroker({ authentication: 'anonymous' });
    for (const id of ['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Sweep', 'Operator']) {
      expect(variablesOf(open, `Broker${id}`).APUS_AUTHENTICATION).toBe('anonymous');
    }
    Annotations.fromStack(stack).hasWarning(
      '/Test/Broker',
      Match.stringLikeRegexp('Anybody who knows the URL'),
    );
    expect(Annotations.fromStack(synthBroker().stack).findWarning('*', Match.anyValue())).toEqual([]);
  });

  it('are checked with a secret that only the function of handshakes may read', () => {
    for (const id of ['Disconnect', 'FanOut', 'Timers', 'Sweep', 'Operator']) {
      expect(variablesOf(template, `Broker${id}`)).not.toHaveProperty('APUS_IDENTITY');
    }
  });
});

describe('a key of the owner', () => {
  const { template: keyed } = synthBroker((stack) => ({ encryptionKey: new Key(stack, 'Key') }));

  it('encrypts the table, the queues and the secret', () => {
    keyed.hasResourceProperties('AWS::DynamoDB::Table', { SSESpecification: { SSEType: 'KMS' } });
    keyed.resourcePropertiesCountIs('AWS::SQS::Queue', { KmsMasterKeyId: Match.anyValue() }, 4);
    keyed.hasResourceProperties('AWS::SecretsManager::Secret', { KmsKeyId: Match.anyValue() });
  });

  it('does not exist by default, as it costs a dollar a month', () => {
    template.resourceCountIs('AWS::KMS::Key', 0);
    template.resourcePropertiesCountIs('AWS::SQS::Queue', { SqsManagedSseEnabled: true }, 4);
  });
});

describe('a domain of the owner', () => {
  it('is mapped to the stage, and pointed at it where its zone is given', () => {
    const { template: named, broker } = synthBroker((stack) => ({
      domain: {
        domainName: 'mqtt.example.com',
        certificate: Certificate.fromCertificateArn(stack, 'C', 'arn:aws:acm:eu-west-1:1:certificate/1'),
        hostedZone: HostedZone.fromHostedZoneAttributes(stack, 'Z', {
          hostedZoneId: 'Z1',
          zoneName: 'example.com',
        }),
      },
    }));
    named.hasResourceProperties('AWS::ApiGatewayV2::ApiMapping', { ApiMappingKey: 'mqtt' });
    named.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'mqtt.example.com.', Type: 'A' });
    expect(Stack.of(broker).resolve(broker.url)).toBe('wss://mqtt.example.com/mqtt');
  });
});
