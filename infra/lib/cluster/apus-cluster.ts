import { IpAddresses, type IVpc, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { FargateService } from 'aws-cdk-lib/aws-ecs';
import type { NetworkLoadBalancer } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge, suppressForNag2 } from '../acknowledge.ts';
import { Balancer } from './balancer.ts';
import { checkClusterProps } from './check-cluster-props.ts';
import { createClusterAlarms } from './cluster-alarms.ts';
import type { ApusClusterProps } from './cluster-props.ts';
import { ManagedEngine, type ReachedEngine } from './engine.ts';
import { createClusterIdentity } from './identity.ts';
import { Service } from './service.ts';

/**
 * Processes of `apus serve --cluster` as one broker: tasks of Fargate behind a Network Load Balancer, and the engine that
 * they share. docs/deploy-cluster.md has its costs, and what it promises when a part fails.
 *
 * @example
 * const cluster = new ApusCluster(stack, 'Cluster', {
 *   image: ContainerImage.fromEcrRepository(repository, '0.1.0'),
 *   domain: { domainName: 'mqtt.example.com', certificate },
 * });
 */
export class ApusCluster extends Construct {
  /** The URL to which clients connect: `wss://…/mqtt`. */
  readonly url: string;
  /** The name that the domain has to point at, if its zone is elsewhere. */
  readonly domainTarget: string;
  readonly vpc: IVpc;
  readonly balancer: NetworkLoadBalancer;
  readonly service: FargateService;
  /** The secret that signs tokens; undefined if `identity` needs none. */
  readonly tokenSecret: ISecret | Secret | undefined;
  /** The topic that alarms notify; undefined with `alarms: false`. */
  readonly alarmTopic: ITopic | undefined;

  constructor(scope: Construct, id: string, props: ApusClusterProps) {
    super(scope, id);
    suppressForNag2(this);
    checkClusterProps(this, props);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    this.vpc = props.vpc ?? (createVpc(this) as IVpc);
    const engine = this.#reachEngine(props, removalPolicy);
    const identity = createClusterIdentity(this, props.identity, removalPolicy);
    const balancer = new Balancer(this, 'Clients', this.vpc, props.domain, props.allowedCidrs);
    const service = new Service(this, 'Nodes', props, { vpc: this.vpc, engine, identity, balancer });
    this.balancer = balancer.balancer;
    this.service = service.service;
    this.tokenSecret = identity.secret;
    this.url = `wss://${props.domain.domainName}/mqtt`;
    this.domainTarget = this.balancer.loadBalancerDnsName;
    this.alarmTopic =
      props.alarms === false
        ? undefined
        : createClusterAlarms(this, props.alarms ?? {}, service, balancer, engine.managed);
    this.#output('Url', this.url, 'The URL that clients connect to');
    this.#output('DomainTarget', this.domainTarget, 'The target of the DNS record for your domain name');
    this.#output('TokenSecretArn', this.tokenSecret?.secretArn, 'Signs tokens: apus token --secret-id …');
    this.#output('AlarmTopicArn', this.alarmTopic?.topicArn, 'Subscribe to hear of alarms');
  }

  #reachEngine({ engine = {} }: ApusClusterProps, removalPolicy: RemovalPolicy): ReachedEngine {
    if ('url' in engine) return { url: engine.url, password: engine.passwordSecret, managed: undefined };
    const managed = new ManagedEngine(this, 'Engine', this.vpc, engine, removalPolicy);
    return { url: managed.url, password: managed.password, managed };
  }

  #output(name: string, value: string | undefined, description: string): void {
    if (value !== undefined) new CfnOutput(this, name, { value, description });
  }
}

/** Two Availability Zones, and a NAT gateway, through which tasks fetch their image and send their logs. */
function createVpc(scope: Construct): Vpc {
  const vpc = new Vpc(scope, 'Vpc', {
    ipAddresses: IpAddresses.cidr('10.0.0.0/16'),
    maxAzs: 2,
    natGateways: 1,
    // Restricting the default group would need a Lambda function, and nothing uses the group.
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [
      { name: 'clients', subnetType: SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
      { name: 'nodes', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 20 },
      { name: 'engine', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 28 },
    ],
  });
  acknowledge(
    vpc,
    'AwsSolutions-VPC7',
    'Flow logs have a line for each connection of each client, at $0.50 a gigabyte; `cluster.vpc.addFlowLog(…)` writes them.',
  );
  return vpc;
}
