import { type Rule, rulesOfLists } from '@apus/broker';
import { listOf, topicFilters } from './fields.ts';
import { InvalidRules } from './invalid-rules.ts';
import { RULES_BYTES_MAX, RULES_MAX, TOPIC_FILTERS_MAX } from './limits.ts';
import { aclRules } from './read-acl.ts';
import { readRule } from './read-rule.ts';

/** The fields in which a token, a user or a key has its rules. In this order: the first rule that applies decides. */
export interface RuleSources {
  /** Apus's own form: a list of `Rule`. */
  readonly rules?: unknown;
  /** EMQX's rules, in both of its forms. */
  readonly acl?: unknown;
  /** Topic filters for publishing, and for subscribing. */
  readonly publish?: unknown;
  readonly subscribe?: unknown;
}

/**
 * The rules, or a sentence with the error and its place: `publish[1]: A topic filter has # only as its whole last
 * level: "a/#/b".` All are checked, so that no rule is misunderstood [SEC-RULES-3].
 *
 * `prefix` goes before the name of a field in that sentence: `users[0].`.
 */
export function readRules(sources: RuleSources, prefix = ''): readonly Rule[] | string {
  try {
    const { rules, acl, publish, subscribe } = sources;
    return bounded([
      ...(rules === undefined ? [] : ownRules(rules, `${prefix}rules`)),
      ...(acl === undefined ? [] : aclRules(acl, `${prefix}acl`)),
      ...(publish === undefined && subscribe === undefined ? [] : listRules(publish, subscribe, prefix)),
    ]);
  } catch (error) {
    if (error instanceof InvalidRules) return `${error.message}.`;
    throw error;
  }
}

function ownRules(rules: unknown, where: string): readonly Rule[] {
  return listOf(rules, RULES_MAX, 'rules', where).map((rule, index) => readRule(rule, `${where}[${index}]`));
}

function listRules(publish: unknown = [], subscribe: unknown = [], prefix = ''): readonly Rule[] {
  return rulesOfLists(
    topicFilters(publish, `${prefix}publish`),
    topicFilters(subscribe, `${prefix}subscribe`),
  );
}

function bounded(rules: readonly Rule[]): readonly Rule[] {
  const filters = rules.reduce((sum, rule) => sum + rule.topicFilters.length, 0);
  if (rules.length > RULES_MAX)
    throw new InvalidRules(`there are ${rules.length} rules; ${RULES_MAX} are the most`);
  if (filters > TOPIC_FILTERS_MAX)
    throw new InvalidRules(`there are ${filters} topic filters; ${TOPIC_FILTERS_MAX} are the most`);
  const bytes = new TextEncoder().encode(JSON.stringify(rules)).length;
  if (bytes > RULES_BYTES_MAX)
    throw new InvalidRules(`the rules take ${bytes} bytes; ${RULES_BYTES_MAX} are the most`);
  return rules;
}
