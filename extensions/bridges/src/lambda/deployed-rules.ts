import { ConfigurationError } from '@apus/identity';
import { type RuleConfiguration, readRules } from '../rules/configuration/rules.ts';
import { type KafkaNetwork, kafkaNetworkOf } from './kafka-network.ts';

/** One rule of a file of rules, as JSON (docs/bridges.md). Its secrets have the form `{"secretArn": "ARN"}`. */
export interface GivenRule {
  readonly name: string;
  readonly tenant?: string;
  readonly hopsMax?: number;
  readonly filter: string;
  readonly when?: string;
  readonly to: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly attempts?: number;
  readonly retrySecondsMax?: number;
}

/**
 * Reads the rules of a deployment.
 *
 * @param secrets the text of a secret by its ARN
 * @throws {ConfigurationError} that names the place; also for fields that a deployment does not support
 */
export function readDeployedRules(
  list: unknown,
  where: string,
  secrets: (arn: string) => string | undefined,
): readonly RuleConfiguration[] {
  const place = { where, directory: '/', environment: {}, nowMs: 0, secrets };
  const rules = readRules({ rules: list }, place);
  networkOfRules(list, where);
  return rules;
}

/**
 * The network from which the function of the rules reaches Kafka. Undefined: the Internet.
 *
 * @throws {ConfigurationError} if two rules name different networks
 */
export function networkOfRules(list: unknown, where: string): KafkaNetwork | undefined {
  let network: KafkaNetwork | undefined;
  for (const [index, rule] of (list as readonly GivenRule[]).entries()) {
    const own = kafkaNetworkOf(rule.to.kafka, `${where}[${index}].to.kafka`);
    if (own === undefined) continue;
    if (network !== undefined && JSON.stringify(own) !== JSON.stringify(network))
      throw new ConfigurationError(
        `${where}[${index}].to.kafka.aws: one function sends for all rules, so all that name subnets name the same.`,
      );
    network = own;
  }
  return network;
}

/** The ARNs of the secrets that the rules name. */
export function secretArnsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secretArn } = value as { readonly secretArn?: unknown };
  if (typeof secretArn === 'string') return [secretArn];
  return [...new Set(Object.values(value).flatMap(secretArnsOf))];
}

/** The rules in the form that every function gets: `[tenant, name, filter]`. */
export function ruleFiltersJson(rules: readonly GivenRule[]): string {
  return JSON.stringify(rules.map(({ tenant = 'default', name, filter }) => [tenant, name, filter]));
}
