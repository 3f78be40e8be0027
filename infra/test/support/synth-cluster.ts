import { Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { App, Stack } from 'aws-cdk-lib/core';
import { ApusCluster } from '../../lib/cluster/apus-cluster.ts';
import type { ApusClusterProps } from '../../lib/cluster/cluster-props.ts';
import { LEAN, newOutdir, testContext, withShortStacks } from './synth.ts';

const CERTIFICATE_ARN = 'arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000';

export interface SynthesizedCluster {
  readonly app: App;
  readonly stack: Stack;
  readonly cluster: ApusCluster;
}

/** An owner's own stack with a cluster in it; the template is not made yet. */
export function makeCluster(
  props: Partial<ApusClusterProps> | ((stack: Stack) => Partial<ApusClusterProps>) = {},
): SynthesizedCluster {
  const app = new App({ ...LEAN, context: testContext(), outdir: newOutdir() });
  const stack = new Stack(app, 'Test', { env: { account: '123456789012', region: 'eu-west-1' } });
  const given = typeof props === 'function' ? props(stack) : props;
  const certificate = Certificate.fromCertificateArn(stack, 'Certificate', CERTIFICATE_ARN);
  const cluster = new ApusCluster(stack, 'Cluster', {
    image: ContainerImage.fromRegistry('registry.example.com/apus:0.1.0'),
    domain: { domainName: 'mqtt.example.com', certificate },
    ...given,
  });
  return { app, stack, cluster };
}

export function synthCluster(
  props: Parameters<typeof makeCluster>[0] = {},
): SynthesizedCluster & { readonly template: Template } {
  return withShortStacks(() => {
    const made = makeCluster(props);
    return { ...made, template: Template.fromStack(made.stack) };
  });
}
