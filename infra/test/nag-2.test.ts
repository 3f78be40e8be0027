import { Aspects, CfnResource, Stack } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

interface Suppression {
  readonly id: string;
  readonly reason: string;
  readonly applies_to?: readonly string[];
}

/** The suppressions that a pack of cdk-nag 2, which is an aspect, sees at each resource. */
function seenByPack(): ReadonlyMap<string, readonly Suppression[]> {
  const seen = new Map<string, readonly Suppression[]>();
  const visit = (node: IConstruct) => {
    if (!CfnResource.isCfnResource(node)) return;
    seen.set(node.node.path, node.getMetadata('cdk_nag')?.rules_to_suppress ?? []);
  };
  synthBroker({}, (broker) =>
    Aspects.of(Stack.of(broker)).add({ visit, readPackName: 'AwsSolutions' } as never),
  );
  return seen;
}

it('cdk-nag 2 sees what is acknowledged for cdk-nag 3, with a reason, and policies by the finding', () => {
  const seen = seenByPack();
  const at = (path: string) => seen.get(`Test/Broker/${path}`) ?? [];
  expect(at('Table/Resource').map(({ id }) => id)).toContain('AwsSolutions-DDB3');
  expect(at('default-route/Resource').map(({ id }) => id)).toContain('AwsSolutions-APIG4');
  const wildcards = at('GatewayRole/DefaultPolicy/Resource').filter(({ id }) => id === 'AwsSolutions-IAM5');
  expect(wildcards.flatMap(({ applies_to = [] }) => applies_to)).toContainEqual(
    expect.stringMatching(/^Resource::arn:<AWS::Partition>:execute-api:.*\/mqtt\/POST\/@connections\/\*$/),
  );
  // cdk-nag 2 refuses a shorter reason.
  for (const { reason } of [...seen.values()].flat()) expect(reason.length).toBeGreaterThan(10);
});

it('a template of an app without cdk-nag 2 has nothing of it', () => {
  expect(JSON.stringify(synthBroker().template.toJSON())).not.toContain('cdk_nag');
});
