import { Fields } from '@apus/identity';

/** The network of the function of the rules, for a cluster that cannot be reached over the Internet. */
export interface KafkaNetwork {
  /** Ids. */
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
}

/**
 * Reads `aws` of a rule's `kafka`. The node ignores this field. Undefined: the rule names no network.
 *
 * @throws {ConfigurationError} that names the place
 */
export function kafkaNetworkOf(
  kafka: Readonly<Record<string, unknown>> | undefined,
  where: string,
): KafkaNetwork | undefined {
  if (kafka?.aws === undefined) return undefined;
  const fields = new Fields(kafka.aws, `${where}.aws`, ['subnets', 'securityGroups']);
  const subnets = fields.texts('subnets') ?? [];
  const securityGroups = fields.texts('securityGroups') ?? [];
  if (subnets.length === 0)
    fields.fail('subnets', 'is missing: ids of those that the cluster is reached from.');
  if (securityGroups.length === 0) fields.fail('securityGroups', 'is missing: each subnet needs one.');
  return { subnets, securityGroups };
}
