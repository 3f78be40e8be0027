import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import type { ApusClusterProps } from '../lib/cluster/cluster-props.ts';
import { permissionsOf } from './support/statements.ts';
import { makeCluster, synthCluster } from './support/synth-cluster.ts';

const { template, cluster } = synthCluster();
const OWN_ENGINE = synthCluster((stack) => ({
  engine: {
    url: 'rediss://apus@engine.example.com:7000',
    passwordSecret: Secret.fromSecretNameV2(stack, 'Password', 'engine'),
  },
  alarms: false,
}));
const RUNBOOK = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

interface Rule {
  readonly IpProtocol: string;
  readonly FromPort: number;
  readonly ToPort: number;
  readonly CidrIp?: string;
}

const propertiesOf = (from: Template, type: string) =>
  Object.values(from.findResources(type)).map(({ Properties }) => Properties);
const containerOf = (from: Template) =>
  propertiesOf(from, 'AWS::ECS::TaskDefinition')[0].ContainerDefinitions[0] as {
    readonly Command: readonly unknown[];
    readonly Secrets?: readonly { readonly Name: string }[];
  } & Readonly<Record<string, unknown>>;
/** Command and environment as text, with the names of resources for what is known at deployment only. */
const commandOf = (from: Template) => JSON.stringify(containerOf(from).Command);

describe('the processes', () => {
  it('are tasks of one core that run as an ordinary user and can write nothing, with all the open files there are', () => {
    template.hasResourceProperties('AWS::ECS::TaskDefinition', {
      Cpu: '1024',
      Memory: '2048',
      RequiresCompatibilities: ['FARGATE'],
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
    });
    expect(containerOf(template)).toMatchObject({
      User: 'node',
      ReadonlyRootFilesystem: true,
      LinuxParameters: { InitProcessEnabled: true },
      Ulimits: [{ Name: 'nofile', SoftLimit: 65_535, HardLimit: 65_535 }],
      LogConfiguration: { LogDriver: 'awslogs', Options: { mode: 'non-blocking' } },
    });
    template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 14 });
  });

  it('have a heap that leaves a third of their memory to the buffers of connections', () => {
    const { template: large } = synthCluster({ tasks: { memoryMegabytes: 4_096 } });
    expect(containerOf(large).Environment).toContainEqual({
      Name: 'NODE_OPTIONS',
      Value: '--max-old-space-size=2662',
    });
  });

  it('join the engine, whose password is in no argument', () => {
    const command = commandOf(template);
    expect(command).toContain('rediss://');
    expect(command).toContain('ConfigurationEndPoint.Address');
    expect(command).not.toMatch(/[Pp]assword|resolve:secretsmanager/);
    expect(containerOf(template).Secrets?.map(({ Name }) => Name)).toEqual(['APUS_ENGINE_PASSWORD']);
  });

  it('ask clients for a token that is signed with a generated secret, unless the owner says otherwise', () => {
    expect(commandOf(template)).toContain('secretArn');
    expect(commandOf(template)).toContain('ClusterTokenSecret');
    expect(
      permissionsOf(template, 'ClusterNodesTaskTaskRole').filter((line) => line.startsWith('secrets')),
    ).toEqual([
      'secretsmanager:DescribeSecret {ClusterTokenSecret}',
      'secretsmanager:GetSecretValue {ClusterTokenSecret}',
    ]);
    const { template: own, cluster: of } = synthCluster({
      identity: {
        authenticators: [
          { cognito: { region: 'eu-west-1', userPoolId: 'eu-west-1_Ab', clientIds: ['app'] } },
        ],
      },
    });
    expect(of.tokenSecret).toBeUndefined();
    expect(commandOf(own)).toContain('cognito');
  });

  it('ask for a ping before the load balancer ends a silent connection', () => {
    const { Command } = containerOf(template);
    const seconds = Number(Command[Command.indexOf('--server-keep-alive-seconds-max') + 1]);
    expect(seconds).toBeLessThan(350);
    expect(seconds).toBeGreaterThan(0);
  });

  it('are replaced one by one: a new one is healthy before a former one goes, and that has time to tell its clients', () => {
    template.hasResourceProperties('AWS::ECS::Service', {
      DeploymentConfiguration: {
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
      DesiredCount: 2,
    });
    const { Command, StopTimeout } = containerOf(template);
    const shutdown = Number(Command[Command.indexOf('--shutdown-timeout-seconds') + 1]);
    expect(StopTimeout).toBeGreaterThan(shutdown);
    // The most that Fargate waits.
    expect(StopTimeout).toBeLessThanOrEqual(120);
  });

  it('become more when processors or connections exceed their targets, up to a limit', () => {
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
      MinCapacity: 2,
      MaxCapacity: 10,
    });
    const configuration = 'TargetTrackingScalingPolicyConfiguration';
    const policies = propertiesOf(template, 'AWS::ApplicationAutoScaling::ScalingPolicy').map(
      (each) => each[configuration],
    );
    expect(policies).toHaveLength(2);
    expect(policies).toContainEqual(
      expect.objectContaining({
        PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' },
        TargetValue: 50,
      }),
    );
    const connections = policies.find((each) => each.CustomizedMetricSpecification !== undefined);
    expect(connections.TargetValue).toBe(15_000);
    expect(connections.CustomizedMetricSpecification.Metrics.at(-1)).toMatchObject({
      Expression: 'flows / tasks',
      ReturnData: true,
    });
  });
});

describe('the load balancer', () => {
  it('ends TLS, hands bytes on, and keeps the addresses of clients', () => {
    template.hasResourceProperties('AWS::ElasticLoadBalancingV2::LoadBalancer', {
      Type: 'network',
      Scheme: 'internet-facing',
    });
    template.hasResourceProperties('AWS::ElasticLoadBalancingV2::Listener', {
      Port: 443,
      Protocol: 'TLS',
      SslPolicy: Match.stringLikeRegexp('TLS13-1-2'),
      Certificates: [{ CertificateArn: Match.stringLikeRegexp('^arn:aws:acm:') }],
    });
    const [{ TargetGroupAttributes, ...group }] = propertiesOf(
      template,
      'AWS::ElasticLoadBalancingV2::TargetGroup',
    );
    expect(group).toMatchObject({
      Protocol: 'TCP',
      Port: 8083,
      TargetType: 'ip',
      HealthCheckProtocol: 'HTTP',
      HealthCheckPath: '/healthz',
    });
    expect(TargetGroupAttributes).toContainEqual({ Key: 'preserve_client_ip.enabled', Value: 'true' });
    expect(TargetGroupAttributes).toContainEqual({
      Key: 'deregistration_delay.timeout_seconds',
      Value: '15',
    });
  });

  it('has the name of the owner, in their zone where they give it', () => {
    expect(cluster.url).toBe('wss://mqtt.example.com/mqtt');
    template.resourceCountIs('AWS::Route53::RecordSet', 0);
    const { template: named } = synthCluster((stack) => ({
      domain: {
        domainName: 'mqtt.example.com',
        certificate: Certificate.fromCertificateArn(stack, 'Own', 'arn:aws:acm:eu-west-1:1:certificate/1'),
        hostedZone: HostedZone.fromHostedZoneAttributes(stack, 'Zone', {
          hostedZoneId: 'Z1',
          zoneName: 'example.com',
        }),
      },
    }));
    named.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'mqtt.example.com.', Type: 'A' });
  });
});

describe('the engine', () => {
  it('writes each message to a log in two Availability Zones before it is acknowledged', () => {
    template.hasResourceProperties('AWS::ElastiCache::ReplicationGroup', {
      Engine: 'valkey',
      EngineVersion: '9.0',
      Durability: 'sync',
      NumNodeGroups: 1,
      ReplicasPerNodeGroup: 1,
      MultiAZEnabled: true,
      AutomaticFailoverEnabled: true,
      TransitEncryptionEnabled: true,
      TransitEncryptionMode: 'required',
      AtRestEncryptionEnabled: true,
    });
  });

  it('removes no session when it is full: a process refuses another policy', () => {
    template.hasResourceProperties('AWS::ElastiCache::ParameterGroup', {
      Properties: { 'maxmemory-policy': 'noeviction', 'cluster-enabled': 'yes' },
    });
  });

  it('has a generated password, which is in no template', () => {
    template.hasResourceProperties('AWS::ElastiCache::ReplicationGroup', {
      AuthToken: {
        'Fn::Join': [
          '',
          [
            '{{resolve:secretsmanager:',
            { Ref: Match.stringLikeRegexp('^ClusterEnginePassword') },
            ':SecretString:::}}',
          ],
        ],
      },
    });
  });

  it('stays, and its password, when the stack goes, unless the owner says otherwise', () => {
    template.hasResource('AWS::ElastiCache::ReplicationGroup', { DeletionPolicy: 'Retain' });
    template.hasResource('AWS::SecretsManager::Secret', { DeletionPolicy: 'Retain' });
  });

  it("may be the owner's", () => {
    OWN_ENGINE.template.resourceCountIs('AWS::ElastiCache::ReplicationGroup', 0);
    expect(commandOf(OWN_ENGINE.template)).toContain('rediss://apus@engine.example.com:7000');
    expect(containerOf(OWN_ENGINE.template).Secrets?.map(({ Name }) => Name)).toEqual([
      'APUS_ENGINE_PASSWORD',
    ]);
  });
});

describe('the network', () => {
  /** Each way in and out, as `GROUP in PORT from SOURCE`. */
  const waysIn = (from: Template): string[] => {
    const name = (id: unknown): string => {
      const { 'Fn::GetAtt': attribute } = id as { readonly 'Fn::GetAtt'?: readonly string[] };
      return /Cluster(Clients|Nodes|Engine)/.exec(attribute?.[0] ?? '')?.[1] ?? JSON.stringify(id);
    };
    const groups = Object.entries(from.findResources('AWS::EC2::SecurityGroup')).flatMap(
      ([id, { Properties }]) =>
        (['SecurityGroupIngress', 'SecurityGroupEgress'] as const).flatMap((way) =>
          ((Properties[way] ?? []) as Rule[]).map(
            ({ FromPort, CidrIp }) =>
              `${name({ 'Fn::GetAtt': [id] })} ${way === 'SecurityGroupIngress' ? 'in' : 'out'} ${FromPort} ${CidrIp}`,
          ),
        ),
    );
    const rules = (['Ingress', 'Egress'] as const).flatMap((way) =>
      propertiesOf(from, `AWS::EC2::SecurityGroup${way}`).map((each) => {
        const other = each.SourceSecurityGroupId ?? each.DestinationSecurityGroupId;
        return `${name(each.GroupId)} ${way === 'Ingress' ? 'in' : 'out'} ${each.FromPort} ${name(other)}`;
      }),
    );
    return [...groups, ...rules].filter((line) => !line.includes('255.255.255.255')).sort();
  };

  it('lets clients reach the balancer, the balancer the tasks, the tasks the engine and HTTPS, and nothing else', () => {
    expect(waysIn(template)).toEqual([
      'Clients in 443 0.0.0.0/0',
      'Clients out 8083 Nodes',
      'Engine in 6380 Nodes',
      'Nodes in 8083 Clients',
      'Nodes out 443 0.0.0.0/0',
      'Nodes out 6380 Engine',
    ]);
  });

  it('lets fewer in where the owner names networks', () => {
    const { template: few } = synthCluster({ allowedCidrs: ['203.0.113.0/24'] });
    expect(waysIn(few)).toContain('Clients in 443 203.0.113.0/24');
    expect(waysIn(few)).not.toContain('Clients in 443 0.0.0.0/0');
  });

  it("may be the owner's", () => {
    const { template: own } = synthCluster((stack) => ({
      vpc: new Vpc(stack, 'Own', { natGateways: 1 }) as never,
    }));
    own.resourceCountIs('AWS::EC2::VPC', 1);
    own.resourceCountIs('AWS::EC2::NatGateway', 1);
  });
});

describe('alarms', () => {
  const alarms = propertiesOf(template, 'AWS::CloudWatch::Alarm');

  it('are seven, notify a topic, and can be switched off', () => {
    // Auto scaling makes its own at deployment.
    expect(alarms).toHaveLength(7);
    for (const { AlarmActions } of alarms)
      expect(AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^ClusterAlarmTopic/) });
    OWN_ENGINE.template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  });

  it('watch each node of the engine, since a failover makes another one the primary', () => {
    const text = JSON.stringify(alarms);
    expect(text).toContain('-0001-001');
    expect(text).toContain('-0001-002');
  });

  it.each(alarms.map(({ AlarmDescription }) => [String(AlarmDescription)]))(
    'have a section in the runbook: %s',
    (description) => {
      const anchor = /docs\/runbook\.md#([\w-]+)$/.exec(description)?.[1] ?? '';
      const section = RUNBOOK.split(/^## /m).find((each) =>
        each.split('\n')[0]?.toLowerCase().replaceAll(' ', '-').startsWith(anchor),
      );
      expect(section).toContain('**Means.**');
      expect(section).toContain('**Look.**');
      expect(section).toContain('**Do.**');
    },
  );
});

it.each<[string, Partial<ApusClusterProps>]>([
  ['as it is', {}],
  ['with an engine of the owner', { engine: { url: 'rediss://engine.example.com:6379' } }],
  ['with few networks and more copies', { allowedCidrs: ['203.0.113.0/24'], engine: { replicas: 2 } }],
])('AWS Solutions finds nothing that is not acknowledged with a reason, %s', (_, props) => {
  const { app } = makeCluster(props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).not.toThrow();
});

describe('an invalid prop is reported at synthesis, with the allowed values', () => {
  it.each<[string, unknown, string]>([
    [
      'one task',
      { tasks: { least: 1 } },
      'tasks.least is a whole number from 2 to 200, not 1. With one alone',
    ],
    [
      'fewer at most than at least',
      { tasks: { least: 5, most: 4 } },
      'tasks.most is a whole number from 5 to 200',
    ],
    ['memory that Fargate has not', { tasks: { memoryMegabytes: 2_500 } }, 'in steps of 1,024, not 2500.'],
    ['a flag that is taken', { tasks: { flags: ['--data', '/x'] } }, 'tasks.flags has --data'],
    ['an engine that forgets', { engine: { nodeType: 'cache.t4g.small' } }, 'cannot write durably'],
    ['a password for everybody', { engine: { url: 'rediss://:pw@h:1' } }, 'engine.url has a password in it'],
    [
      'an address of something else',
      { engine: { url: 'https://h' } },
      'engine.url is an address as rediss://HOST:6379',
    ],
    [
      'a network that is none',
      { allowedCidrs: ['everybody'] },
      'allowedCidrs has networks as 203.0.113.0/24',
    ],
    [
      'a secret that everybody would see',
      { identity: { authenticators: [{ jwt: { secret: '0123456789abcdef0123456789abcdef' } }] } },
      'identity has a "secret" in it',
    ],
    [
      'a file, of which a task has none',
      { identity: { authenticators: [{ users: { file: 'users.json' } }] } },
      'users.json: there are no files in a task.',
    ],
    ['a mail address without a host', { alarms: { email: 'ops' } }, 'alarms.email is a mail address'],
  ])('%s', (_, props, sentence) => {
    expect(() => makeCluster(props as Partial<ApusClusterProps>)).toThrow(sentence);
  });
});
