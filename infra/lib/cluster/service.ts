import { type IVpc, Peer, Port, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import {
  AwsLogDriverMode,
  ContainerInsights,
  Secret as ContainerSecret,
  CpuArchitecture,
  Cluster as EcsCluster,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LinuxParameters,
  LogDrivers,
  OperatingSystemFamily,
  UlimitName,
} from 'aws-cdk-lib/aws-ecs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge, acknowledgeWildcard } from '../acknowledge.ts';
import { grantInvoke } from '../authentication.ts';
import { authenticationFunctionsOf } from '../identity.ts';
import type { Balancer } from './balancer.ts';
import type { ApusClusterProps } from './cluster-props.ts';
import type { ReachedEngine } from './engine.ts';
import type { ClusterIdentity } from './identity.ts';
import {
  CONNECTIONS_MAX,
  ENGINE_PORT,
  HEALTH_INTERVAL,
  HEAP_SHARE,
  KEEP_ALIVE_SECONDS_MAX,
  MEMORY_MEGABYTES,
  NODE_PORT,
  OPEN_FILES_MAX,
  SHUTDOWN_SECONDS,
  START_PERIOD,
  STOP_TIMEOUT,
  TASK_CPU_UNITS,
  TASKS_LEAST,
  TLS_PORT,
} from './limits.ts';
import { scale } from './scaling.ts';

/** As `packages/cli/src/commands/serve.ts` reads it. */
const ENGINE_PASSWORD = 'APUS_ENGINE_PASSWORD';

export interface ServiceParts {
  readonly vpc: IVpc;
  readonly engine: ReachedEngine;
  readonly identity: ClusterIdentity;
  readonly balancer: Balancer;
}

/** The processes, as tasks of Fargate: one process, one core. */
export class Service extends Construct {
  readonly service: FargateService;
  readonly securityGroup: SecurityGroup;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ApusClusterProps, parts: ServiceParts) {
    super(scope, id);
    const { vpc, engine, balancer } = parts;
    const { tasks = {} } = props;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetention ?? RetentionDays.TWO_WEEKS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.securityGroup = this.#createSecurityGroup(vpc, balancer, engine);
    const cluster = new EcsCluster(this, 'Cluster', { vpc, containerInsightsV2: ContainerInsights.DISABLED });
    acknowledge(
      cluster,
      'AwsSolutions-ECS4',
      'Container Insights costs some dollars a month for each task. The alarms need the metrics of the service, which are free, and `apus clients` and /prometheus/stats say what a process does.',
    );
    this.service = new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition: this.#createTask(props, parts),
      desiredCount: tasks.least ?? TASKS_LEAST,
      // A new task is healthy before a former one is stopped.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { enable: true, rollback: true },
      healthCheckGracePeriod: START_PERIOD,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      securityGroups: [this.securityGroup],
      assignPublicIp: false,
    });
    this.service.attachToNetworkTargetGroup(balancer.targets);
    scale(this, this.service, balancer, tasks);
  }

  #createTask(props: ApusClusterProps, { engine, identity }: ServiceParts): FargateTaskDefinition {
    const { memoryMegabytes = MEMORY_MEGABYTES } = props.tasks ?? {};
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: TASK_CPU_UNITS,
      memoryLimitMiB: memoryMegabytes,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    const container = task.addContainer('apus', {
      image: props.image,
      command: commandOf(props, engine, identity),
      portMappings: [{ containerPort: NODE_PORT }],
      user: 'node',
      readonlyRootFilesystem: true,
      linuxParameters: new LinuxParameters(this, 'Linux', { initProcessEnabled: true }),
      secrets:
        engine.password === undefined
          ? {}
          : { [ENGINE_PASSWORD]: ContainerSecret.fromSecretsManager(engine.password as ISecret) },
      environment: {
        // The SDK reads it, for the secrets of tokens.
        AWS_REGION: Stack.of(this).region,
        NODE_OPTIONS: `--max-old-space-size=${Math.floor(memoryMegabytes * HEAP_SHARE)}`,
      },
      stopTimeout: STOP_TIMEOUT,
      healthCheck: {
        command: ['CMD', 'node', '/app/infra/container/healthy.mjs'],
        interval: HEALTH_INTERVAL,
        timeout: Duration.seconds(4),
        retries: 3,
        startPeriod: START_PERIOD,
      },
      logging: LogDrivers.awsLogs({
        logGroup: this.logGroup,
        streamPrefix: 'apus',
        // A log that cannot be written must not stop a broker.
        mode: AwsLogDriverMode.NON_BLOCKING,
      }),
    });
    container.addUlimits({ name: UlimitName.NOFILE, softLimit: OPEN_FILES_MAX, hardLimit: OPEN_FILES_MAX });
    identity.grantVerify(task.taskRole);
    grantInvoke(task.taskRole, authenticationFunctionsOf(identity.configuration));
    acknowledge(
      task,
      'AwsSolutions-ECS2',
      'The Region is no secret; the password of the engine comes from Secrets Manager.',
    );
    acknowledgeWildcard(
      task.obtainExecutionRole(),
      '*',
      'A token for the registry (ecr:GetAuthorizationToken) is for no resource; CDK grants it where the image is in ECR.',
    );
    return task;
  }

  #createSecurityGroup(vpc: IVpc, balancer: Balancer, engine: ReachedEngine): SecurityGroup {
    const group = new SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'The tasks: the load balancer reaches them, and they reach the engine and HTTPS',
      allowAllOutbound: false,
    });
    group.addIngressRule(balancer.securityGroup, Port.tcp(NODE_PORT), 'The load balancer');
    balancer.securityGroup.addEgressRule(group, Port.tcp(NODE_PORT), 'The tasks');
    group.addEgressRule(
      Peer.anyIpv4(),
      Port.tcp(TLS_PORT),
      'The image, secrets, logs, and the keys of identity providers',
    );
    if (engine.managed === undefined) {
      group.addEgressRule(Peer.anyIpv4(), Port.tcp(portOf(engine.url)), 'The engine of the owner');
    } else {
      group.addEgressRule(engine.managed.securityGroup, Port.tcp(ENGINE_PORT), 'The engine');
      engine.managed.allowFrom(group);
    }
    return group;
  }
}

function commandOf(
  { tasks = {} }: ApusClusterProps,
  engine: ReachedEngine,
  identity: ClusterIdentity,
): string[] {
  return [
    ...['serve', '--host', '0.0.0.0', '--port', String(NODE_PORT)],
    ...['--cluster', engine.url, '--identity', identity.json],
    ...['--connections-max', String(tasks.connectionsMax ?? CONNECTIONS_MAX)],
    ...['--server-keep-alive-seconds-max', String(KEEP_ALIVE_SECONDS_MAX)],
    ...['--shutdown-timeout-seconds', String(SHUTDOWN_SECONDS)],
    ...(tasks.flags ?? []),
  ];
}

const ENGINE_PORT_DEFAULT = 6_379;

function portOf(url: string): number {
  const { port } = new URL(url);
  return port === '' ? ENGINE_PORT_DEFAULT : Number(port);
}
