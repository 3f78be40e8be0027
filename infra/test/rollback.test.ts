import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { synthApp, synthBroker } from './support/synth.ts';

/**
 * The functions that serve clients and backends; the sweep, the breaker and the operator's function can wait for a
 * second deployment.
 */
const GUARDED = ['Gateway', 'Disconnect', 'FanOut', 'Timers', 'Publish'];

describe('with a rollback on alarm', () => {
  const template = synthApp({ rollbackOnAlarm: 'true', httpPublish: 'keys' });
  const aliases = Object.entries(template.findResources('AWS::Lambda::Alias'));
  const isAlias = (reference: unknown) =>
    aliases.some(([id]) => JSON.stringify(reference).includes(`{"Ref":"${id}"}`));

  it('has an alias for each function that serves', () => {
    expect(aliases.map(([id]) => GUARDED.find((name) => id.startsWith(`Broker${name}Live`))).sort()).toEqual(
      [...GUARDED].sort(),
    );
    template.allResourcesProperties('AWS::Lambda::Alias', { Name: 'live' });
  });

  it('lets CodeDeploy move it: a tenth for ten minutes, and back on alarm', () => {
    for (const [, { UpdatePolicy }] of aliases) {
      expect(UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName).toHaveProperty('Ref');
    }
    template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', GUARDED.length);
    template.allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
    });
  });

  it('watches the errors of the gateway, of workers and of backends', () => {
    const [group] = Object.values(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
    const names = JSON.stringify(group?.Properties.AlarmConfiguration.Alarms);
    for (const id of ['GatewayErrors', 'FanOutErrors', 'TimerErrors', 'PublishErrors'])
      expect(names).toContain(`Broker${id}Alarm`);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmDescription: Match.stringLikeRegexp('#timer-errors$'),
    });
  });

  it('lets nothing bypass the alias: neither routes, nor queues, nor the URL', () => {
    const integrations = Object.values(template.findResources('AWS::ApiGatewayV2::Integration'));
    // A sign of life invokes no function.
    for (const { Properties } of integrations.filter((each) => each.Properties.IntegrationType !== 'MOCK'))
      expect(isAlias(Properties.IntegrationUri)).toBe(true);
    for (const { Properties } of Object.values(template.findResources('AWS::Lambda::EventSourceMapping')))
      expect(isAlias(Properties.FunctionName)).toBe(true);
    template.hasResourceProperties('AWS::Lambda::Url', { Qualifier: 'live' });
  });

  it('lets API Gateway invoke the aliases', () => {
    const permissions = Object.values(template.findResources('AWS::Lambda::Permission')).filter(
      ({ Properties }) => Properties.Principal === 'apigateway.amazonaws.com',
    );
    expect(permissions).toHaveLength(3);
    for (const { Properties } of permissions) expect(isAlias(Properties.FunctionName)).toBe(true);
  });
});

it('there are neither aliases nor versions by default', () => {
  const { template } = synthBroker();
  template.resourceCountIs('AWS::Lambda::Alias', 0);
  template.resourceCountIs('AWS::Lambda::Version', 0);
  template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
});

it('a rollback without alarms is refused', () => {
  expect(() => synthBroker({ rollbackOnAlarm: true, alarms: false })).toThrow(
    'rollbackOnAlarm needs alarms, and alarms is false.',
  );
});
