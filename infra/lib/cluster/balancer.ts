import { type IVpc, Peer, Port, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import {
  NetworkLoadBalancer,
  NetworkTargetGroup,
  Protocol,
  SslPolicy,
  TargetType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { LoadBalancerTarget } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { DomainProps } from '../props.ts';
import { DEREGISTRATION_DELAY, HEALTH_INTERVAL, NODE_PORT, TLS_PORT } from './limits.ts';

const ANYBODY = '0.0.0.0/0';

/**
 * A Network Load Balancer that terminates the clients' TLS. It passes bytes on and adds no header. Processes see the
 * addresses of clients because it keeps them (`preserveClientIp`): no `--trusted-proxy` is needed.
 */
export class Balancer extends Construct {
  readonly balancer: NetworkLoadBalancer;
  readonly targets: NetworkTargetGroup;
  readonly securityGroup: SecurityGroup;

  constructor(
    scope: Construct,
    id: string,
    vpc: IVpc,
    { domainName, certificate, hostedZone }: DomainProps,
    allowedCidrs: readonly string[] = [ANYBODY],
  ) {
    super(scope, id);
    this.securityGroup = new SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'The load balancer: clients come in over TLS, and reach the tasks',
      allowAllOutbound: false,
    });
    for (const cidr of allowedCidrs)
      this.securityGroup.addIngressRule(Peer.ipv4(cidr), Port.tcp(TLS_PORT), 'Clients, over TLS');
    acknowledge(
      this.securityGroup,
      'AwsSolutions-EC23',
      'Clients connect from everywhere, over TLS, and each has to show who it is; allowedCidrs names fewer networks.',
    );
    this.balancer = new NetworkLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: true,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      securityGroups: [this.securityGroup],
      // There are few tasks: without it, a single task in one zone would get as many clients as two in another.
      crossZoneEnabled: true,
    });
    acknowledge(
      this.balancer,
      'AwsSolutions-ELB2',
      'Its access log has a line for each TLS connection, by handshake; the processes log those that they refuse. `balancer.logAccessLogs(bucket)` writes one.',
    );
    this.targets = new NetworkTargetGroup(this, 'Targets', {
      vpc,
      port: NODE_PORT,
      protocol: Protocol.TCP,
      targetType: TargetType.IP,
      // With targets by address the balancer shows its own address by default: all clients would share the limits of
      // one address, and each of its addresses could open only some 55,000 connections to a task.
      preserveClientIp: true,
      deregistrationDelay: DEREGISTRATION_DELAY,
      // The process closes its connections itself, after a DISCONNECT to its clients.
      connectionTermination: false,
      healthCheck: {
        protocol: Protocol.HTTP,
        path: '/healthz',
        interval: HEALTH_INTERVAL,
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 2,
      },
    });
    this.balancer.addListener('Tls', {
      port: TLS_PORT,
      protocol: Protocol.TLS,
      certificates: [certificate],
      sslPolicy: SslPolicy.RECOMMENDED_TLS,
      defaultTargetGroups: [this.targets],
    });
    if (hostedZone === undefined) return;
    new ARecord(this, 'Record', {
      zone: hostedZone,
      recordName: `${domainName}.`,
      target: RecordTarget.fromAlias(new LoadBalancerTarget(this.balancer)),
    });
  }
}
