import { ConfigurationError, Fields } from '@apus/identity';
import type { BridgeCommon } from '../configuration/common.ts';
import { BRIDGES_MAX, COMMON_FIELDS, readCommon } from '../configuration/configuration.ts';
import {
  brokersOf,
  connectionFields,
  type KafkaBridgeConfiguration,
  type KafkaInMapping,
  readGroup,
  readKafkaIn,
} from '../configuration/kafka.ts';
import { type KafkaOnAws, readKafkaOnAws } from '../configuration/kafka-on-aws.ts';

/** The part of a bridge that its function needs. */
export interface KafkaMappings extends BridgeCommon {
  readonly in: readonly KafkaInMapping[];
}

/** A bridge from Kafka in a deployment. */
export interface KafkaSourceConfiguration
  extends KafkaMappings,
    Pick<KafkaBridgeConfiguration, 'group' | 'from'> {
  readonly aws: KafkaOnAws;
  /** `host:port`; undefined for MSK. */
  readonly brokers: readonly string[] | undefined;
}

/** One bridge of a file of bridges, as JSON. Fields that only the node needs are allowed. */
export interface GivenKafkaBridge {
  readonly name: string;
  readonly tenant?: string;
  readonly hopsMax?: number;
  readonly kafka: {
    /** Not needed for MSK. */
    readonly brokers?: readonly string[];
    readonly group?: string;
    readonly from?: 'earliest' | 'latest';
    readonly aws?: {
      readonly clusterArn?: string;
      readonly secretArn?: string;
      readonly authentication?: KafkaOnAws['authentication'] & string;
      readonly rootCaSecretArn?: string;
      readonly subnets?: readonly string[];
      readonly securityGroups?: readonly string[];
      readonly batchSize?: number;
      readonly batchWindowSeconds?: number;
    };
  };
  readonly in: readonly {
    readonly topic: string;
    readonly to: string;
    readonly qos?: 0 | 1 | 2;
    readonly retain?: boolean;
  }[];
}

/**
 * Reads the bridges of a deployment from Kafka.
 *
 * @throws {ConfigurationError} that names the place; also for fields that a deployment does not support
 */
export function readKafkaSources(list: unknown, where: string): readonly KafkaSourceConfiguration[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > BRIDGES_MAX)
    throw new ConfigurationError(`${where} has to be a list of 1 to ${BRIDGES_MAX} bridges.`);
  const sources = list.map((each, index) => readSource(each, `${where}[${index}]`));
  for (const [index, { name }] of sources.entries()) {
    if (sources.findIndex((other) => other.name === name) < index)
      throw new ConfigurationError(`${where}[${index}].name: there are two "${name}".`);
  }
  return sources;
}

function readSource(value: unknown, where: string): KafkaSourceConfiguration {
  const fields = new Fields(value, where, [...COMMON_FIELDS, 'mqtt', 'kafka', 'in', 'out']);
  if (fields.raw('mqtt') !== undefined)
    fields.fail('mqtt', 'is for the node: a deployment has no bridge to another MQTT broker.');
  if ((fields.list('out') ?? []).length > 0)
    fields.fail('out', 'is for the node: a deployment takes records from Kafka, and sends none there.');
  const mappings = mappingsOf(fields);
  const connection = connectionFields(fields);
  const aws = readKafkaOnAws(connection);
  if (connection.raw('sasl') !== undefined && aws.secretArn === undefined)
    connection.fail('aws.secretArn', 'is missing: Lambda takes the password of "sasl" from a secret.');
  const brokers = aws.clusterArn === undefined ? brokersOf(connection) : undefined;
  return { ...mappings, ...readGroup(connection, mappings.name), aws, brokers };
}

/** Reads the output of `mappingsJson`. */
export function readKafkaMappings(json: string, where: string): KafkaMappings {
  return mappingsOf(new Fields(JSON.parse(json), where, [...COMMON_FIELDS, 'in']));
}

function mappingsOf(fields: Fields): KafkaMappings {
  const into = readKafkaIn(fields);
  if (into.length === 0) fields.fail('in', 'is empty: nothing would come.');
  return { ...readCommon(fields), in: into };
}

/** The event of the function of a bridge. */
export function mappingsJson({ name, tenant, hopsMax, in: into }: GivenKafkaBridge): string {
  return JSON.stringify({ name, tenant, hopsMax, in: into });
}
