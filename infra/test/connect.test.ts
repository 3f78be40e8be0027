import { Match } from 'aws-cdk-lib/assertions';
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthApp, synthBroker } from './support/synth.ts';

const CONNECT =
  'execute-api:Invoke arn:{AWS::Partition}:execute-api:{AWS::Region}:{AWS::AccountId}:{BrokerApi}/mqtt/$connect';
const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:may-connect';

type Template = ReturnType<typeof synthBroker>['template'];

function variablesOf(template: Template, description: string): Record<string, unknown> {
  const found = template.findResources('AWS::Lambda::Function', { Properties: { Description: description } });
  const [lambda] = Object.values(found);
  return lambda?.Properties.Environment.Variables;
}

describe('clients that sign their handshakes', () => {
  const iam = { publish: ['%u/#'], subscribe: ['news'], clientIds: ['%u', '%u-+'] };
  const { template } = synthBroker({ authentication: { iam } }, (broker, stack) => {
    broker.grantConnect(new Role(stack, 'Clients', { assumedBy: new AccountPrincipal('123456789012') }));
  });

  it('are asked for a signature by API Gateway itself, at $connect alone', () => {
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route')).map(({ Properties }) => [
      Properties.RouteKey,
      Properties.AuthorizationType,
    ]);
    expect(Object.fromEntries(routes)).toEqual({
      $connect: 'AWS_IAM',
      $default: 'NONE',
      $disconnect: 'NONE',
      alive: 'NONE',
    });
  });

  it('have the rights of the configuration, and there is no secret', () => {
    const variables = variablesOf(template, 'Apus: handshakes and frames of clients');
    expect(JSON.parse(String(variables.APUS_IDENTITY))).toEqual({ iam });
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
  });

  it('are granted $connect, and nothing else of the API', () => {
    expect(permissionsOf(template, 'Clients')).toEqual([CONNECT]);
  });

  it('are asked for none by default', () => {
    const { template: byToken } = synthBroker();
    byToken.allResourcesProperties('AWS::ApiGatewayV2::Route', { AuthorizationType: 'NONE' });
    expect(() =>
      synthBroker({}, (broker, stack) => {
        broker.grantConnect(new Role(stack, 'Clients', { assumedBy: new AccountPrincipal('123456789012') }));
      }),
    ).toThrow('grantConnect is for authentication: { iam }');
  });

  it('are configured by --authentication iam, with the filters of the flags', () => {
    const app = synthApp({ authentication: 'iam', tokenPublish: '%u/#', tokenSubscribe: 'news' });
    app.hasResourceProperties('AWS::ApiGatewayV2::Route', {
      RouteKey: '$connect',
      AuthorizationType: 'AWS_IAM',
    });
    const variables = variablesOf(app, 'Apus: handshakes and frames of clients');
    expect(JSON.parse(String(variables.APUS_IDENTITY))).toEqual({
      iam: { publish: ['%u/#'], subscribe: ['news'] },
    });
  });

  it.each([
    [
      { authentication: { iam: { publish: ['a/#/b'] } } },
      /identity: iam\.rules cannot be kept: publish\[0\]/,
    ],
    [{ authentication: { iam }, tokenDefaultRules: {} }, /tokenDefaultRules is for tokens/],
    [{ identity: { iam, mqttPassword: true } }, /mqttPassword and "iam" exclude each other/],
  ])('cannot be %j', (props, message) => {
    expect(() => synthBroker(props)).toThrow(message);
  });
});

describe('a Lambda function as authenticator or authorizer', () => {
  const identity = {
    authenticators: [{ hook: { functionArn: ARN } }],
    mqttPassword: true,
    authorization: { hook: { functionArn: ARN.replace('connect', 'do') } },
  };
  const { template } = synthBroker({ identity, httpPublish: 'iam' });
  const invocations = (id: string) =>
    permissionsOf(template, `${id}Role`).filter((permission) =>
      permission.startsWith('lambda:InvokeFunction'),
    );

  it('that authenticates may be invoked by the function of handshakes alone', () => {
    expect(invocations('BrokerGateway')).toEqual(
      [`lambda:InvokeFunction ${ARN.replace('connect', 'do')}`, `lambda:InvokeFunction ${ARN}`].sort(),
    );
  });

  it.each(['Disconnect', 'FanOut', 'Timers', 'Sweep', 'Publish'])(
    'that authorises may be invoked by %s as well, since wills are authorised when they fire',
    (id) => {
      expect(invocations(`Broker${id}`)).toEqual([`lambda:InvokeFunction ${ARN.replace('connect', 'do')}`]);
    },
  );

  it('that authorises is known to every function, one that authenticates to that of handshakes alone', () => {
    const gateway = variablesOf(template, 'Apus: handshakes and frames of clients');
    expect(JSON.parse(String(gateway.APUS_IDENTITY))).toEqual({
      authenticators: identity.authenticators,
      mqttPassword: true,
    });
    const timers = variablesOf(template, 'Apus: wills and sessions whose time has come');
    expect(JSON.parse(String(timers.APUS_AUTHORIZATION))).toEqual(identity.authorization);
    expect(timers.APUS_IDENTITY).toBeUndefined();
  });

  it('may be one that the same stack makes', () => {
    const { template: own } = synthBroker((stack: Stack) => {
      const code = Code.fromInline('exports.handler = async () => ({ result: "allow" })');
      const props = { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code };
      const lambda = new LambdaFunction(stack, 'MayConnect', props);
      return {
        identity: { authenticators: [{ hook: { functionArn: lambda.functionArn } }], mqttPassword: true },
      };
    });
    own.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'lambda:InvokeFunction',
            Resource: { 'Fn::GetAtt': [Match.stringLikeRegexp('^MayConnect'), 'Arn'] },
          }),
        ]),
      },
    });
  });

  it('is named by its ARN', () => {
    const props = {
      identity: { authenticators: [{ hook: { functionArn: 'may-connect' } }], mqttPassword: true },
    };
    expect(() => synthBroker(props)).toThrow('expected the ARN of a Lambda function');
  });
});
