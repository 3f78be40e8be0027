import type { Clock } from '@apus/broker';
import { Refreshed } from '@apus/identity';
import type { RuleConfiguration } from '../rules/configuration/rules.ts';
import type { Target } from '../rules/target.ts';
import { readDeployedRules, secretArnsOf } from './deployed-rules.ts';
import { type OpenRule, ruleKey } from './rules-handler.ts';

/** The rules use a changed secret within this time. */
const SECRETS_FRESH_MS = 300_000;
/** While Secrets Manager does not answer, the rules use the former secrets for this time. */
const SECRETS_STALE_MS = 3_600_000;
const AGAIN_MS = 2_000;

export interface OpenedRulesOptions {
  /** The rules as JSON. */
  readonly list: unknown;
  /** The name of the list, for error messages. */
  readonly where: string;
  /** The text of a secret, by its ARN. */
  readonly readSecret: (arn: string) => Promise<string>;
  readonly open: (configuration: RuleConfiguration) => Promise<Target>;
  readonly clock: Clock;
}

/** Rules by `ruleKey`. */
export type OpenRules = ReadonlyMap<string, OpenRule>;

/**
 * The rules of a deployment: the first event opens them, and a later one opens them again when a secret has changed.
 */
export function openedRules(options: OpenedRulesOptions): () => Promise<OpenRules> {
  const { list, readSecret, clock } = options;
  const arns = secretArnsOf(list);
  let texts: ReadonlyMap<string, string> = new Map();
  let rules: OpenRules | undefined;
  const refreshed = new Refreshed({
    what: 'the secrets of the rules',
    clock,
    ...{ freshMs: SECRETS_FRESH_MS, staleMs: SECRETS_STALE_MS, againMs: AGAIN_MS },
    read: async () => {
      const now = new Map(await Promise.all(arns.map(async (arn) => [arn, await readSecret(arn)] as const)));
      const isSame = arns.every((arn) => now.get(arn) === texts.get(arn));
      if (rules !== undefined && isSame) return rules;
      const former = rules;
      rules = await openAll(options, now);
      texts = now;
      await Promise.all([...(former?.values() ?? [])].map(({ target }) => target.stop()));
      return rules;
    },
  });
  return () => refreshed.current();
}

async function openAll(
  { list, where, open }: OpenedRulesOptions,
  texts: ReadonlyMap<string, string>,
): Promise<OpenRules> {
  const configurations = readDeployedRules(list, where, (arn) => texts.get(arn));
  const opened = configurations.map(
    async (configuration) =>
      [ruleKey(configuration), { configuration, target: await open(configuration) }] as const,
  );
  return new Map(await Promise.all(opened));
}
