import type { Template } from 'aws-cdk-lib/assertions';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { synthApp, synthBroker } from './support/synth.ts';

/** The text of the dashboard. */
function dashboardOf(template: Template): string {
  return JSON.stringify(Object.values(template.findResources('AWS::CloudWatch::Dashboard')));
}

it('the largest tenants have metrics and a graph if the owner asks for them', () => {
  const { template, stack } = synthBroker({ tenantMetrics: 5 });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ APUS_TENANT_METRICS: '5' }) },
  });
  const text = dashboardOf(template);
  expect(text).toMatch(
    /SEARCH\('\{.{0,40}Apus\/Test\/Broker.{0,40},service,tenant\} MetricName=.{0,8}TenantMessagesIn/,
  );
  expect(text).toContain('TenantMessagesOut');
  expect(Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('MathExpression'))).toEqual([]);
});

it('without the prop there are no such metrics, and no graph', () => {
  const { template } = synthBroker();
  expect(dashboardOf(template)).not.toContain('TenantMessages');
  expect(JSON.stringify(template.findResources('AWS::Lambda::Function'))).not.toContain(
    'APUS_TENANT_METRICS',
  );
});

it('the number of tenants is limited by what a dashboard shows', () => {
  expect(() => synthBroker({ tenantMetrics: 51 })).toThrow(/tenantMetrics/);
  expect(() => synthBroker({ tenantMetrics: 0 })).toThrow(/tenantMetrics/);
  expect(dashboardOf(synthApp({ tenantMetrics: '3' }))).toContain('TenantMessagesIn');
});
