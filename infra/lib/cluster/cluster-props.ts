import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import type { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { IdentityProps } from '../authentication-props.ts';
import type { DomainProps } from '../props.ts';

/** Props of `ApusCluster`. docs/deploy-cluster.md has the costs and the guarantees. */
export interface ApusClusterProps {
  /** The image that `infra/container/Dockerfile` builds, from your own registry: no public registry has it. */
  readonly image: ContainerImage;
  /** The host name for clients, and its certificate: the load balancer terminates TLS. */
  readonly domain: DomainProps;
  /**
   * Authentication (docs/identity.md). A `secretArn` may be `"generated"`: a secret that the stack creates.
   *
   * @default tokens that are signed (HS256) with a generated secret
   */
  readonly identity?: ClusterIdentityProps;
  /** The engine that the processes share. @default ElastiCache for Valkey, made by the construct */
  readonly engine?: ManagedEngineProps | OwnEngineProps;
  /** The processes: one in each task of Fargate, each on one core. */
  readonly tasks?: TaskProps;
  /**
   * The network. The balancer is in its public subnets, and the tasks are in its private subnets with a way out. The
   * engine is in its isolated subnets, or in the private ones if there are none.
   *
   * @default a network of its own in two Availability Zones, with a NAT gateway
   */
  readonly vpc?: IVpc;
  /** Networks that may connect, as `203.0.113.0/24`. @default everybody */
  readonly allowedCidrs?: readonly string[];
  /** @default a topic is created, with an alarm for each section of docs/runbook.md */
  readonly alarms?: false | ClusterAlarmProps;
  /** @default RetentionDays.TWO_WEEKS */
  readonly logRetention?: RetentionDays;
  /** Applies to the generated secrets. @default RemovalPolicy.RETAIN */
  readonly removalPolicy?: RemovalPolicy;
}

/** An identity configuration for a node (docs/identity.md): without IAM, which only the gateway has. */
export type ClusterIdentityProps = Omit<IdentityProps, 'iam' | 'mqttPassword'>;

export interface ClusterAlarmProps {
  /** Gets a mail from each alarm, once it has confirmed the subscription. @default none */
  readonly email?: string;
  /** A topic of yours that the alarms notify. @default the construct creates one */
  readonly topic?: ITopic;
}

/**
 * The guarantee behind an acknowledgement.
 * - `'sync'`: the engine has written the message to a log in two Availability Zones or more. No acknowledged
 *   message is lost when a node of the engine fails.
 * - `'async'`: up to ten seconds of acknowledged messages are lost when the engine's primary fails.
 * - `'disabled'`: the engine has its data only in memory. When the primary fails, messages that its replica does not
 *   have yet are lost; when both fail, all data are lost.
 */
export type EngineDurability = 'sync' | 'async' | 'disabled';

/** ElastiCache for Valkey, one shard with replicas, over TLS, with a generated password. */
export interface ManagedEngineProps {
  /** @default 'sync' */
  readonly durability?: EngineDurability;
  /**
   * One of the families R6g, R7g, M6g, M7g or C7gn, unless the durability is `'disabled'`.
   * @default 'cache.m7g.large'
   */
  readonly nodeType?: string;
  /**
   * Replicas besides the primary, from 1 to 5, in other Availability Zones.
   * @default 1
   */
  readonly replicas?: number;
  /**
   * Days for which a daily backup is kept, from 0 to 35.
   * @default 1
   */
  readonly snapshotDays?: number;
}

/** An engine of yours: Valkey, Redis from 6.2 on, or MemoryDB. Its security group has to let the tasks in. */
export interface OwnEngineProps {
  /** The address without the password, such as `rediss://apus@engine.example.com:6379`. */
  readonly url: string;
  /** The secret that holds the password as a plain string. @default the engine asks for no password */
  readonly passwordSecret?: ISecret;
}

export interface TaskProps {
  /**
   * The fewest tasks: at least 2, so that one is left if another dies.
   * @default 2
   */
  readonly least?: number;
  /** @default 10 */
  readonly most?: number;
  /** Megabytes: 2,048 to 8,192, in steps of 1,024, as Fargate has them for one vCPU. @default 2048 */
  readonly memoryMegabytes?: number;
  /** Connections that a process takes. A new task starts at three quarters of it. @default 20000 */
  readonly connectionsMax?: number;
  /** Percent of a core at which a new task starts, from 10 to 90. @default 50 */
  readonly cpuPercent?: number;
  /**
   * Further flags of `apus serve`, such as `['--queue-length-max', '100']`.
   * @default none
   */
  readonly flags?: readonly string[];
}
