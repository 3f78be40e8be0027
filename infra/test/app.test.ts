import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { synthApp } from './support/synth.ts';

describe('the app', () => {
  it('outputs the URL for clients, and the secret that signs tokens', () => {
    const outputs = synthApp().toJSON().Outputs;
    expect(Object.keys(outputs)).toEqual([
      'Url',
      'TableName',
      'SessionsTableName',
      'TokenSecretArn',
      'AlarmTopicArn',
      'BreakerName',
      'OperatorName',
      'DashboardUrl',
    ]);
    expect(JSON.stringify(outputs.DashboardUrl.Value)).toContain('#dashboards/dashboard/');
    expect(synthApp({ dashboard: 'false' }).toJSON().Outputs).not.toHaveProperty('DashboardUrl');
    expect(JSON.stringify(outputs.Url.Value)).toMatch(/wss:\/\/.*BrokerApi.*\.execute-api\..*\/mqtt/);
  });

  it('calls the API by its stack, as an account may have several brokers', () => {
    synthApp({ name: 'chat' }).hasResourceProperties('AWS::ApiGatewayV2::Api', { Name: 'chat-mqtt' });
  });

  it('tags everything that can be tagged', () => {
    const tags = Match.arrayWith([{ Key: 'apus:stack', Value: 'broker' }]);
    synthApp().hasResourceProperties('AWS::DynamoDB::Table', { Tags: tags });
    synthApp().hasResourceProperties('AWS::SQS::Queue', { Tags: tags });
  });

  it('takes settings from the context', () => {
    const template = synthApp({
      framesPerSecond: '50',
      maxPostsPerSecond: 400,
      messagesPerMinuteMax: '5000',
      breakerResetMinutes: '45',
      identityDeliveriesPerMinuteMax: '7',
      identityFramesPerSecondMax: 20,
      tenantFramesPerSecondMax: '200',
      connectTimeoutSeconds: '60',
      resumeSeconds: '90',
      cutAfterMs: 500,
      withoutExtensions: 'close',
      alarmEmail: 'ops@example.com',
      dashboard: 'false',
      retainData: false,
      pointInTimeRecovery: 'true',
      httpPublish: 'none',
      logLevel: 'info',
      memorySizeMegabytes: '1024',
      tracing: true,
      accessLogs: 'true',
      jwksUrl: 'https://id.example.com/keys',
      issuer: 'https://id.example.com',
      audience: 'mqtt',
      allowedOrigins: 'https://app.example.com,https://b.example.com',
      tokenPublish: 'chat/%u,presence/%u',
      tokenSubscribe: 'chat/#',
    });
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
      AccessLogSettings: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 1_024,
      TracingConfig: { Mode: 'Active' },
      Environment: {
        Variables: Match.objectLike({
          APUS_ALLOWED_ORIGINS: 'https://app.example.com,https://b.example.com',
          APUS_CONNECT_TIMEOUT_SECONDS: '60',
          APUS_RESUME_SECONDS: '90',
          APUS_CUT_AFTER_MS: '500',
          APUS_LOG_LEVEL: 'info',
          APUS_IDENTITY:
            '{"authenticators":[{"jwt":{"jwksUrl":"https://id.example.com/keys","issuer":"https://id.example.com","audience":"mqtt","defaultRules":{"publish":["chat/%u","presence/%u"],"subscribe":["chat/#"]}}}]}',
          APUS_QUOTAS:
            // Quotas of tenants and of all together stay below the requested breaker limit.
            '{"identity":{"framesPerSecondMax":20,"deliveriesPerMinuteMax":7},"tenant":{"messagesPerMinuteMax":3000,"framesPerSecondMax":200},"broker":{"messagesPerMinuteMax":3500}}',
        }),
      },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ BREAKER_RESET_MINUTES: '45' }) },
    });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'MessageCount',
      Threshold: 5_000,
    });
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
    template.resourceCountIs('AWS::Lambda::Url', 0);
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: Match.objectLike({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    });
  });

  it('takes a domain, and makes its record', () => {
    const template = synthApp({
      domainName: 'mqtt.example.com',
      certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1',
      hostedZoneId: 'Z1',
    });
    template.hasResourceProperties('AWS::Route53::RecordSet', {
      Name: 'mqtt.example.com.',
      HostedZoneId: 'Z1',
    });
    template.hasOutput('DomainTarget', {});
  });

  it.each([
    [
      { name: '1st' },
      '--name begins with a letter and has up to 128 letters, digits and -; it is not "1st".',
    ],
    [{ framePerSecond: '5' }, 'which is no setting of Apus. Did you mean "framesPerSecond"?'],
    [
      { 'alarm-email': 'a@b.c' },
      'The context has "alarm-email", which is no setting of Apus. Did you mean "alarmEmail"?',
    ],
    [
      { colour: 'red' },
      'The context has "colour", which is no setting of Apus. npm run deploy -- --help shows all.',
    ],
    [{ framesPerSecond: 'many' }, '--frames-per-second is a whole number, not "many".'],
    [{ dashboard: 'yes' }, '--dashboard is true or false, not "yes".'],
    [{ logLevel: 'loud' }, '--log-level is one of error, warn, info, debug, not "loud".'],
    [
      { authentication: 'anonymous', jwksUrl: 'https://x' },
      'Only one of --authentication, --token-secret-arn and --jwks-url can be given.',
    ],
    [{ jwksUrl: 'https://x.example.com' }, '--jwks-url needs --issuer: whose tokens are accepted.'],
    [
      { jwksUrl: 'https://x.example.com', issuer: 'https://x.example.com' },
      '--jwks-url needs --audience: the provider signs for all its customers alike.',
    ],
    [{ domainName: 'mqtt.example.com' }, '--domain-name and --certificate-arn need each other.'],
    [{ account: '1234' }, '--account is the twelve digits of an account, not "1234".'],
    [
      { tokenSecretArn: 'mine' },
      '--token-secret-arn is a whole ARN, as arn:aws:secretsmanager:eu-west-1:123456789012:secret:NAME-a1B2c3, not "mine".',
    ],
    [
      { tokenSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:mine' },
      '--token-secret-arn is a whole ARN',
    ],
    [
      { domainName: 'mqtt.example.com', certificateArn: 'arn:aws:iam::123456789012:server-certificate/x' },
      '--certificate-arn is a whole ARN, as arn:aws:acm:eu-west-1:123456789012:certificate/ID, not "arn:aws:iam',
    ],
    [{ issuer: 'https://id.example.com' }, '--issuer means nothing without --jwks-url.'],
    [{ audience: 'mqtt' }, '--audience means nothing without --jwks-url.'],
    [{ hostedZoneId: 'Z1' }, '--hosted-zone-id means nothing without --domain-name.'],
  ])('says what is wrong with %j', (context, sentence) => {
    expect(() => synthApp(context)).toThrow(sentence);
  });
});
