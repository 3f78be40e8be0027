import { Fields } from '@apus/identity';
import { countOf } from './numbers.ts';

/** The ways in which Lambda authenticates at a cluster, with the names of its event source mappings. */
export const KAFKA_AUTHENTICATIONS = [
  'SASL_SCRAM_512_AUTH',
  'SASL_SCRAM_256_AUTH',
  'BASIC_AUTH',
  'CLIENT_CERTIFICATE_TLS_AUTH',
] as const;

/** How the event source mapping of a deployment reaches the cluster. The node ignores it. */
export interface KafkaOnAws {
  /** The cluster of Amazon MSK. Undefined: another cluster, at `brokers`. */
  readonly clusterArn: string | undefined;
  /** A secret of Secrets Manager with the credentials for the cluster. Undefined with MSK: the function's role. */
  readonly secretArn: string | undefined;
  readonly authentication: (typeof KAFKA_AUTHENTICATIONS)[number] | undefined;
  /**
   * A secret with the trusted certificate authority.
   * @default those that Lambda trusts
   */
  readonly rootCaSecretArn: string | undefined;
  /**
   * Ids of the subnets and security groups from which Lambda reaches a cluster that is not MSK.
   * @default the Internet
   */
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  /** Most records of one event. */
  readonly batchSize: number;
  /** How long Lambda gathers records for an event. */
  readonly batchWindowSeconds: number;
}

const FIELDS = [
  ...['clusterArn', 'secretArn', 'authentication', 'rootCaSecretArn', 'subnets', 'securityGroups'],
  ...['batchSize', 'batchWindowSeconds'],
];
const BATCH_SIZE = 100;
/** The function publishes the records of an event one after another, within its timeout. */
const BATCH_SIZE_MAX = 1_000;
const BATCH_WINDOW_SECONDS_MAX = 300;
/** An ARN, or a CDK token for one that is known only at deployment. */
const ARN = /^(arn:|\$\{Token\[)/;

/** @throws {ConfigurationError} that names the place */
export function readKafkaOnAws(connection: Fields): KafkaOnAws {
  const fields = new Fields(connection.raw('aws') ?? {}, `${connection.where}.aws`, FIELDS);
  const aws: KafkaOnAws = {
    clusterArn: arnOf(fields, 'clusterArn'),
    secretArn: arnOf(fields, 'secretArn'),
    authentication: fields.oneOf('authentication', KAFKA_AUTHENTICATIONS),
    rootCaSecretArn: arnOf(fields, 'rootCaSecretArn'),
    subnets: fields.texts('subnets') ?? [],
    securityGroups: fields.texts('securityGroups') ?? [],
    batchSize: countOf(fields, 'batchSize', 1, BATCH_SIZE_MAX, BATCH_SIZE),
    batchWindowSeconds: countOf(fields, 'batchWindowSeconds', 0, BATCH_WINDOW_SECONDS_MAX, 0),
  };
  if ((aws.secretArn === undefined) !== (aws.authentication === undefined))
    fields.fail(
      aws.secretArn === undefined ? 'secretArn' : 'authentication',
      'is missing: a secret is shown in one of the ways that "authentication" names.',
    );
  if ((aws.subnets.length === 0) !== (aws.securityGroups.length === 0))
    fields.fail(aws.subnets.length === 0 ? 'subnets' : 'securityGroups', 'is missing: each needs the other.');
  if (aws.clusterArn !== undefined && aws.subnets.length > 0)
    fields.fail('subnets', 'are not for MSK: Lambda uses those of the cluster.');
  return aws;
}

function arnOf(fields: Fields, name: string): string | undefined {
  const arn = fields.text(name);
  if (arn === undefined || ARN.test(arn)) return arn;
  return fields.fail(name, `has to be an ARN, not ${JSON.stringify(arn)}.`);
}
