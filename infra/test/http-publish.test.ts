import { Match } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { permissionsOf } from './support/statements.ts';
import { synthBroker } from './support/synth.ts';

describe('publishing over HTTPS', () => {
  it('takes signed requests of callers that have the permission', () => {
    const { template } = synthBroker({ httpPublish: 'iam' }, (broker, stack) => {
      broker.grantPublish(
        new Role(stack, 'Backend', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') }),
      );
    });
    template.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'AWS_IAM' });
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('^Backend'),
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'lambda:InvokeFunctionUrl',
            Resource: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BrokerPublish'), 'Arn'] },
          }),
          // A URL asks for both; the condition keeps it to the URL.
          Match.objectLike({
            Action: 'lambda:InvokeFunction',
            Condition: { Bool: { 'lambda:InvokedViaFunctionUrl': true } },
          }),
        ]),
      },
    });
  });

  it('takes requests with a generated key', () => {
    const { template, broker } = synthBroker({ httpPublish: 'keys' });
    template.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'NONE' });
    template.resourceCountIs('AWS::SecretsManager::Secret', 2);
    expect(broker.publishKeys).toBeDefined();
    expect(() => broker.grantPublish({} as never)).toThrow("grantPublish is for httpPublish: 'iam'");
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: publishes for backends over HTTPS',
      Environment: { Variables: Match.objectLike({ APUS_PUBLISH_KEYS_SECRET_ARN: Match.anyValue() }) },
    });
  });

  it('has the permissions of a broker, and no others', () => {
    const { template } = synthBroker({ httpPublish: 'iam' });
    expect(
      permissionsOf(template, 'BrokerPublishRole').filter((each) => /Receive|Scan|GET|secret/.test(each)),
    ).toEqual([]);
  });

  it('gets as many environments as are reserved for it, and none are reserved by default [SEC-COST-2]', () => {
    const ofPublish = { Description: 'Apus: publishes for backends over HTTPS' };
    const { template } = synthBroker({ httpPublish: 'keys', publishReservedConcurrency: 20 });
    template.hasResourceProperties('AWS::Lambda::Function', {
      ...ofPublish,
      ReservedConcurrentExecutions: 20,
    });
    synthBroker({ httpPublish: 'keys' }).template.hasResourceProperties('AWS::Lambda::Function', {
      ...ofPublish,
      ReservedConcurrentExecutions: Match.absent(),
    });
  });

  it('does not exist by default', () => {
    const { template } = synthBroker({ httpPublish: false });
    template.resourceCountIs('AWS::Lambda::Url', 0);
    template.resourceCountIs('AWS::Lambda::Function', 7);
  });
});
