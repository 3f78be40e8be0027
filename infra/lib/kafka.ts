import {
  BRIDGE_VARIABLES,
  type GivenKafkaBridge,
  type KafkaSourceConfiguration,
  mappingsJson,
  readKafkaSources,
} from '@apus/bridges/lambda';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  type SourceAccessConfiguration,
  SourceAccessConfigurationType,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { Duration, Fn } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { BrokerFunction, calledAs } from './broker-function.ts';
import type { FunctionDefaults } from './functions.ts';
import { grantBroker, type Resources } from './permissions.ts';
import { PropsError } from './props-error.ts';

/** A batch of a thousand records that each go to many shards; a function that is stopped has its event again. */
const TIMEOUT = Duration.minutes(5);
/** All variables of a function have 4 KB together. */
const VARIABLE_BYTES_MAX = 2_048;

/** Lambda reaches a cluster from the cluster's subnets, or from the named ones. */
export const NETWORK_ACTIONS = [
  'CreateNetworkInterface',
  'DeleteNetworkInterface',
  'DescribeNetworkInterfaces',
  'DescribeSecurityGroups',
  'DescribeSubnets',
  'DescribeVpcs',
].map((action) => `ec2:${action}`);

export interface KafkaSourcesProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly bridges: readonly GivenKafkaBridge[];
}

/** A function for each bridge from Kafka, with an event source mapping for each of its topics. */
export function createKafkaSources(scope: Construct, props: KafkaSourcesProps): readonly BrokerFunction[] {
  return props.bridges.map((bridge, index) => {
    const [source] = readKafkaSources([bridge], `kafka[${index}]`);
    if (source === undefined) throw new PropsError(scope, `kafka[${index}] is no bridge.`);
    return createSource(scope, props, bridge, source);
  });
}

/** @throws {PropsError} */
export function checkKafka(scope: IConstruct, bridges: readonly GivenKafkaBridge[]): void {
  if (bridges.length === 0) return;
  try {
    readKafkaSources(bridges, 'kafka');
  } catch (error) {
    throw new PropsError(scope, (error as Error).message);
  }
  for (const bridge of bridges) {
    const bytes = Buffer.byteLength(mappingsJson(bridge));
    if (bytes > VARIABLE_BYTES_MAX)
      throw new PropsError(
        scope,
        `the mappings of kafka "${bridge.name}" have ${bytes} bytes as JSON, and a function takes ${VARIABLE_BYTES_MAX}: some thirty topics. Several bridges may read from one cluster.`,
      );
  }
}

function createSource(
  scope: Construct,
  props: KafkaSourcesProps,
  bridge: GivenKafkaBridge,
  source: KafkaSourceConfiguration,
): BrokerFunction {
  const { memorySizeMegabytes, logRetention, logKey, tracing, layers = [], environment, resources } = props;
  const lambda = new BrokerFunction(scope, `Kafka${idOf(source.name)}`, {
    ...{ memorySizeMegabytes, logRetention, logKey, tracing, layers },
    entry: 'kafka',
    description: `Apus: records of Kafka, bridge ${source.name}`,
    environment: { ...environment, [BRIDGE_VARIABLES.kafka]: mappingsJson(bridge) },
    timeout: TIMEOUT,
    hasAlias: false,
  });
  grantBroker(lambda, resources);
  grantCluster(lambda, source);
  for (const { topic } of source.in) connect(lambda, source, topic);
  return lambda;
}

/** Letters and digits, and a hash that distinguishes names with other characters. */
function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, (character) => `x${character.charCodeAt(0).toString(16)}`);
}

function connect(lambda: BrokerFunction, source: KafkaSourceConfiguration, topic: string): void {
  const { aws, group, from, brokers } = source;
  const access = accessOf(source);
  const mapping = new EventSourceMapping(lambda, `Topic${idOf(topic)}`, {
    target: calledAs(lambda),
    kafkaTopic: topic,
    // Each topic has its own mapping, and a group belongs to one mapping.
    kafkaConsumerGroupId: groupOf(group, topic, source.in.length),
    startingPosition: from === 'latest' ? StartingPosition.LATEST : StartingPosition.TRIM_HORIZON,
    batchSize: aws.batchSize,
    ...(aws.batchWindowSeconds > 0 && { maxBatchingWindow: Duration.seconds(aws.batchWindowSeconds) }),
    ...(aws.clusterArn !== undefined && { eventSourceArn: aws.clusterArn }),
    ...(brokers !== undefined && { kafkaBootstrapServers: [...brokers] }),
    ...(access.length > 0 && { sourceAccessConfigurations: access }),
  });
  acknowledge(
    mapping,
    'Serverless-LambdaEventSourceMappingDestination',
    'With a destination Lambda would give records up after ten attempts. Without one it tries until they are published, and the records that can be no message are counted by the function.',
  );
}

function groupOf(group: string, topic: string, topics: number): string {
  return topics === 1 ? group : `${group}-${topic}`;
}

function accessOf({ aws }: KafkaSourceConfiguration): SourceAccessConfiguration[] {
  const { secretArn, authentication, rootCaSecretArn, subnets, securityGroups } = aws;
  const access = (type: SourceAccessConfigurationType, uri: string) => ({ type, uri });
  const { SERVER_ROOT_CA_CERTIFICATE, VPC_SUBNET, VPC_SECURITY_GROUP } = SourceAccessConfigurationType;
  return [
    ...(secretArn === undefined || authentication === undefined
      ? []
      : [access(SourceAccessConfigurationType.of(authentication), secretArn)]),
    ...(rootCaSecretArn === undefined ? [] : [access(SERVER_ROOT_CA_CERTIFICATE, rootCaSecretArn)]),
    ...subnets.map((id) => access(VPC_SUBNET, `subnet:${id}`)),
    ...securityGroups.map((id) => access(VPC_SECURITY_GROUP, `security_group:${id}`)),
  ];
}

/** Lambda reads with the permissions of the function. */
function grantCluster(lambda: BrokerFunction, source: KafkaSourceConfiguration): void {
  const { aws } = source;
  const grant = (actions: readonly string[], resources: readonly string[]) =>
    lambda.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
  const secrets = [aws.secretArn, aws.rootCaSecretArn].filter((arn) => arn !== undefined);
  if (secrets.length > 0) grant(['secretsmanager:GetSecretValue'], secrets);
  if (aws.clusterArn !== undefined || aws.subnets.length > 0) {
    grant(NETWORK_ACTIONS, ['*']);
    acknowledgeWildcard(lambda.ownRole, '*', 'Lambda makes network interfaces that have no name before.');
  }
  if (aws.clusterArn === undefined) return;
  grant(['kafka:DescribeCluster', 'kafka:DescribeClusterV2', 'kafka:GetBootstrapBrokers'], [aws.clusterArn]);
  if (aws.secretArn === undefined) grantByRole(source, aws.clusterArn, grant);
}

/** At MSK a function without a secret uses its role. */
function grantByRole(
  { group, in: into }: KafkaSourceConfiguration,
  clusterArn: string,
  grant: (actions: readonly string[], resources: readonly string[]) => void,
): void {
  const parts = Fn.split(':cluster/', clusterArn, 2);
  const arnOf = (kind: string, name: string) =>
    `${Fn.select(0, parts)}:${kind}/${Fn.select(1, parts)}/${name}`;
  grant(['kafka-cluster:Connect', 'kafka-cluster:DescribeClusterDynamicConfiguration'], [clusterArn]);
  grant(
    ['kafka-cluster:DescribeTopic', 'kafka-cluster:ReadData'],
    into.map(({ topic }) => arnOf('topic', topic)),
  );
  grant(
    ['kafka-cluster:AlterGroup', 'kafka-cluster:DescribeGroup'],
    into.map(({ topic }) => arnOf('group', groupOf(group, topic, into.length))),
  );
}
