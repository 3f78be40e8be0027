import { Match } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

const { template } = synthBroker();

/** The resources of one type that refer to the operator's function. */
function referring(type: string): string[] {
  return Object.entries(template.findResources(type))
    .filter(([, resource]) => JSON.stringify(resource).includes('BrokerOperator'))
    .map(([id]) => id);
}

describe('the function of the operator', () => {
  it('exists, with time for two scans of the whole table', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('kicks and bans'),
      Timeout: 840,
      MemorySize: 256,
    });
  });

  it('has no URL, no route and no source, and nothing of AWS may invoke it', () => {
    for (const type of [
      'AWS::Lambda::Url',
      'AWS::Lambda::Permission',
      'AWS::Lambda::EventSourceMapping',
      'AWS::ApiGatewayV2::Integration',
      'AWS::Events::Rule',
      'AWS::SNS::Subscription',
    ]) {
      expect(referring(type)).toEqual([]);
    }
  });

  it('may be invoked by grantees of the owner', () => {
    const { template: granted } = synthBroker({}, (broker, stack) => {
      const admin = new Role(stack, 'Admin', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
      broker.grantOperate(admin);
    });
    const policies = Object.entries(granted.findResources('AWS::IAM::Policy'));
    const ofAdmin = policies.filter(([id]) => id.startsWith('AdminDefaultPolicy'));
    expect(JSON.stringify(ofAdmin)).toMatch(/lambda:InvokeFunction.*BrokerOperator/);
    const others = policies.filter(([id]) => !id.startsWith('AdminDefaultPolicy'));
    expect(JSON.stringify(others)).not.toContain('lambda:InvokeFunction');
  });
});
