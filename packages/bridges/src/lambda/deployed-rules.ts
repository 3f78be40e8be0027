import { ConfigurationError } from '@apus/identity';
import { type RuleConfiguration, readRules } from '../rules/configuration/rules.ts';

/** One rule of a file of rules, as JSON (docs/bridges.md). Its secrets are `{"secretArn": "ARN"}`. */
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
 * @throws {ConfigurationError} that names the place; also for what a deployment does not have
 */
export function readDeployedRules(
  list: unknown,
  where: string,
  secrets: (arn: string) => string | undefined,
): readonly RuleConfiguration[] {
  const place = { where, directory: '/', environment: {}, nowMs: 0, secrets };
  const rules = readRules({ rules: list }, place);
  for (const { name, to } of rules) {
    if (to.kind === 'kafka')
      throw new ConfigurationError(`${where}: the rule "${name}" is to Kafka, which is for the node.`);
  }
  return rules;
}

/** The ARNs of the secrets that the rules name. */
export function secretArnsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secretArn } = value as { readonly secretArn?: unknown };
  if (typeof secretArn === 'string') return [secretArn];
  return [...new Set(Object.values(value).flatMap(secretArnsOf))];
}

/** The rules as every function is given them: `[tenant, name, filter]`. */
export function ruleFiltersJson(rules: readonly GivenRule[]): string {
  return JSON.stringify(rules.map(({ tenant = 'default', name, filter }) => [tenant, name, filter]));
}
