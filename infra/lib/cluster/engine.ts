import {
  type ISecurityGroup,
  type IVpc,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
} from 'aws-cdk-lib/aws-ec2';
import { CfnParameterGroup, CfnReplicationGroup, CfnSubnetGroup } from 'aws-cdk-lib/aws-elasticache';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { ManagedEngineProps } from './cluster-props.ts';
import {
  ENGINE_FAMILY,
  ENGINE_NODE_TYPE,
  ENGINE_PASSWORD_LENGTH,
  ENGINE_PORT,
  ENGINE_REPLICAS,
  ENGINE_VERSION,
  SNAPSHOT_DAYS,
} from './limits.ts';

/** The engine's address for the processes. */
export interface ReachedEngine {
  /** Without the password. */
  readonly url: string;
  readonly password: ISecret | Secret | undefined;
  /** Undefined: the engine is the owner's. */
  readonly managed: ManagedEngine | undefined;
}

/**
 * ElastiCache for Valkey: one shard in cluster mode, since only that mode can write durably. Apus keeps all keys in one
 * slot (`extensions/cluster/src/store`), so a second shard would be empty.
 */
export class ManagedEngine extends Construct {
  readonly password: Secret;
  readonly group: CfnReplicationGroup;
  readonly securityGroup: SecurityGroup;
  /** Each of its nodes, as CloudWatch knows them. */
  readonly nodeNames: readonly string[];
  readonly isDurable: boolean;

  constructor(
    scope: Construct,
    id: string,
    vpc: IVpc,
    { durability = 'sync', ...props }: ManagedEngineProps,
    removalPolicy: RemovalPolicy,
  ) {
    super(scope, id);
    this.password = new Secret(this, 'Password', {
      description: 'Apus: the password of the engine that the processes share',
      generateSecretString: { passwordLength: ENGINE_PASSWORD_LENGTH, excludePunctuation: true },
      removalPolicy,
    });
    acknowledge(
      this.password,
      'AwsSolutions-SMG4',
      'ElastiCache takes a new password in two steps (ROTATE, SET), between which the tasks have to start anew: docs/deploy-cluster.md says how.',
    );
    this.securityGroup = new SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'The engine: the tasks reach it, and nothing else',
      allowAllOutbound: false,
    });
    const subnets = new CfnSubnetGroup(this, 'Subnets', {
      description: 'The engine of Apus',
      subnetIds: vpc.selectSubnets(subnetsOf(vpc)).subnetIds,
    });
    const parameters = new CfnParameterGroup(this, 'Parameters', {
      description: 'The engine of Apus: it removes nothing by itself',
      cacheParameterGroupFamily: ENGINE_FAMILY,
      // With another policy the engine would evict sessions when it is full, and a process refuses to start.
      properties: { 'cluster-enabled': 'yes', 'maxmemory-policy': 'noeviction' },
    });
    this.group = new CfnReplicationGroup(this, 'Group', {
      replicationGroupDescription: 'The engine that the processes of Apus share',
      engine: 'valkey',
      engineVersion: ENGINE_VERSION,
      cacheNodeType: props.nodeType ?? ENGINE_NODE_TYPE,
      cacheParameterGroupName: parameters.ref,
      cacheSubnetGroupName: subnets.ref,
      securityGroupIds: [this.securityGroup.securityGroupId],
      port: ENGINE_PORT,
      numNodeGroups: 1,
      replicasPerNodeGroup: props.replicas ?? ENGINE_REPLICAS,
      automaticFailoverEnabled: true,
      multiAzEnabled: true,
      durability,
      transitEncryptionEnabled: true,
      transitEncryptionMode: 'required',
      atRestEncryptionEnabled: true,
      authToken: this.password.secretValue.unsafeUnwrap(),
      snapshotRetentionLimit: props.snapshotDays ?? SNAPSHOT_DAYS,
      autoMinorVersionUpgrade: true,
    });
    this.group.applyRemovalPolicy(removalPolicy);
    const nodes = 1 + (props.replicas ?? ENGINE_REPLICAS);
    this.nodeNames = Array.from({ length: nodes }, (_, index) => `${this.group.ref}-0001-00${index + 1}`);
    this.isDurable = durability !== 'disabled';
  }

  get url(): string {
    return `rediss://${this.group.attrConfigurationEndPointAddress}:${ENGINE_PORT}`;
  }

  allowFrom(tasks: ISecurityGroup): void {
    this.securityGroup.addIngressRule(tasks, Port.tcp(ENGINE_PORT), 'The tasks');
  }
}

/** Isolated subnets, if there are any. */
function subnetsOf(vpc: IVpc): SubnetSelection {
  const subnetType =
    vpc.isolatedSubnets.length > 0 ? SubnetType.PRIVATE_ISOLATED : SubnetType.PRIVATE_WITH_EGRESS;
  return { subnetType };
}
