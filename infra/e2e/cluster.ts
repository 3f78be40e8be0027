import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { readContext } from '../cli/cdk-json.ts';
import { CommandError } from '../cli/command-error.ts';
import { ApusCluster } from '../lib/cluster/apus-cluster.ts';

const STACK_NAME = 'apus-e2e-cluster';
const WAIT_SECONDS_MAX = 300;
const CERTIFICATE_ARN = 'arn:aws:acm:us-east-1:000000000000:certificate/00000000-0000-0000-0000-000000000000';

/** Types that MiniStack's CloudFormation does not support, and alarms over several metrics: they are left out. */
const UNKNOWN = [
  'AWS::ApplicationAutoScaling::ScalableTarget',
  'AWS::ApplicationAutoScaling::ScalingPolicy',
  'AWS::EC2::SecurityGroupEgress',
  'AWS::EC2::SecurityGroupIngress',
];

/** The resources that have to exist, by type. */
const EXPECTED = [
  'AWS::EC2::VPC',
  'AWS::ECS::Cluster',
  'AWS::ECS::Service',
  'AWS::ECS::TaskDefinition',
  'AWS::ElastiCache::ParameterGroup',
  'AWS::ElastiCache::ReplicationGroup',
  'AWS::ElasticLoadBalancingV2::Listener',
  'AWS::ElasticLoadBalancingV2::LoadBalancer',
  'AWS::ElasticLoadBalancingV2::TargetGroup',
  'AWS::Logs::LogGroup',
  'AWS::SecretsManager::Secret',
];

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
}

interface Synthesized {
  readonly Outputs: unknown;
  readonly Resources: Readonly<Record<string, Resource>>;
}

/**
 * Creates the stack of a cluster on the emulated AWS, checks its resources, and deletes it. MiniStack runs tasks only
 * with Docker, so no process is reached here.
 */
export async function deployCluster(): Promise<void> {
  const client = new CloudFormationClient();
  const StackName = STACK_NAME;
  // MiniStack has no endpoint of an engine in cluster mode.
  const TemplateBody = JSON.stringify(templateFor()).replaceAll('ConfigurationEndPoint.', 'PrimaryEndPoint.');
  await client.send(new CreateStackCommand({ StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM'] }));
  try {
    await waitUntilStackCreateComplete({ client, maxWaitTime: WAIT_SECONDS_MAX }, { StackName });
  } catch (error) {
    throw new CommandError(`The cluster was not created: ${await reasonOf(client)}`, { cause: error });
  }
  const { StackResources = [] } = await client.send(new DescribeStackResourcesCommand({ StackName }));
  const created = new Set(
    StackResources.filter(({ ResourceStatus }) => ResourceStatus === 'CREATE_COMPLETE').map(
      ({ ResourceType }) => ResourceType,
    ),
  );
  const missing = EXPECTED.filter((type) => !created.has(type));
  if (missing.length > 0) throw new CommandError(`The cluster lacks ${missing.join(', ')}.`);
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const url = stack?.Outputs?.find(({ OutputKey }) => OutputKey?.startsWith('ClusterUrl'))?.OutputValue;
  if (url !== 'wss://mqtt.example.com/mqtt') throw new CommandError(`The cluster says that it is at ${url}.`);
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, maxWaitTime: WAIT_SECONDS_MAX }, { StackName });
}

function templateFor(): unknown {
  const app = new App({ context: readContext() });
  const stack = new Stack(app, 'Cluster');
  // MiniStack has no NAT gateway either: the test brings a network.
  const vpc = new Vpc(stack, 'Vpc', {
    natGateways: 0,
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [
      { name: 'clients', subnetType: SubnetType.PUBLIC },
      { name: 'nodes', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
    ],
  });
  new ApusCluster(stack, 'Cluster', {
    image: ContainerImage.fromRegistry('apus:0.1.0'),
    domain: {
      domainName: 'mqtt.example.com',
      certificate: Certificate.fromCertificateArn(stack, 'Certificate', CERTIFICATE_ARN),
    },
    vpc: vpc as never,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const template = Template.fromStack(stack).toJSON() as Synthesized;
  const left = Object.entries(template.Resources).filter(
    ([, { Type, Properties }]) => UNKNOWN.includes(Type) || Properties?.Metrics !== undefined,
  );
  const gone = new Set(left.map(([id]) => id));
  const kept = Object.entries(template.Resources).filter(([id]) => !gone.has(id));
  const Resources = Object.fromEntries(kept.map(([id, resource]) => [id, without(resource, gone)]));
  // The others are a rule and a parameter about the CDK's bootstrap, which is not needed.
  return { Outputs: template.Outputs, Resources };
}

function without({ DependsOn, ...resource }: Resource, gone: ReadonlySet<string>): Resource {
  const depends = (DependsOn === undefined ? [] : [DependsOn].flat()).filter((id) => !gone.has(id));
  return depends.length === 0 ? resource : { ...resource, DependsOn: depends };
}

async function reasonOf(client: CloudFormationClient): Promise<string> {
  const { StackEvents = [] } = await client.send(new DescribeStackEventsCommand({ StackName: STACK_NAME }));
  const failed = StackEvents.filter(({ ResourceStatus }) => ResourceStatus?.endsWith('FAILED'));
  return failed
    .map(({ LogicalResourceId, ResourceStatusReason }) => `${LogicalResourceId}: ${ResourceStatusReason}`)
    .join('; ');
}
