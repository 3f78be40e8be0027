import { installed } from '@apus/door';
import type { BridgesContext, RunningRules } from '@apus/node';
import type { RuleConfiguration, TargetConfiguration } from './configuration/rules.ts';
import { Rule } from './rule.ts';
import { RuleBacklog } from './rule-backlog.ts';
import type { Target } from './target.ts';
import { openTarget } from './targets/open-target.ts';

export interface OpenedRules extends RunningRules {
  stop(): Promise<void>;
}

type OpenTarget = typeof targetOf;

export async function openRules(
  configurations: readonly RuleConfiguration[],
  context: BridgesContext,
  open: OpenTarget = targetOf,
  backlog = new RuleBacklog(configurations, context),
): Promise<OpenedRules> {
  const rules: Rule[] = [];
  const stop = async () => void (await Promise.all(rules.map((rule) => rule.stop())));
  try {
    for (const each of configurations) {
      const rule = new Rule(each, await open(each, each.to, context), context, backlog);
      rules.push(rule);
      await rule.start();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  if (rules.length > 0) context.log.info('rules-started', { rules: rules.map(({ name }) => name) });
  return {
    list: (tenant) => rules.filter((rule) => rule.tenant === tenant).map((rule) => rule.status()),
    deadLetters: (tenant, name) =>
      rules.find((rule) => rule.tenant === tenant && rule.name === name)?.deadLetters,
    stop,
  };
}

/** The Kafka client is loaded only if it is used. */
async function targetOf(
  rule: RuleConfiguration,
  to: TargetConfiguration,
  context: BridgesContext,
): Promise<Target> {
  if (to.kind !== 'kafka') return await openTarget(rule, to, context);
  const { KafkaTarget } = await installed(import('./targets/kafka.ts'));
  return new KafkaTarget(rule.name, to, context);
}
