import type { Rule } from '@apus/broker';
import type { QoS } from '@apus/mqtt';
import {
  boolean,
  condition,
  type Fields,
  fieldsOf,
  listOf,
  oneOf,
  qosList,
  topicFilter,
  topicFilters,
} from './fields.ts';
import { InvalidRules } from './invalid-rules.ts';
import { RULES_MAX } from './limits.ts';
import { EFFECTS } from './read-rule.ts';

const ENTRY_FIELDS = ['permission', 'action', 'topic', 'topics', 'qos', 'retain'];

/** EMQX accepts the short names too. */
const ACTIONS: ReadonlyMap<unknown, Rule['action']> = new Map([
  ['publish', 'publish'],
  ['subscribe', 'subscribe'],
  ['all', 'all'],
  ['pub', 'publish'],
  ['sub', 'subscribe'],
]);

const LISTS: ReadonlyMap<string, Rule['action']> = new Map([
  ['pub', 'publish'],
  ['sub', 'subscribe'],
  ['all', 'all'],
]);

/**
 * EMQX's `acl`, as a token or the answer of its HTTP authentication has it: `{pub, sub, all}`, lists of topic filters
 * that are allowed, or since EMQX 5.5 a list of `{permission, action, topic or topics, qos, retain}`. Its conditions on
 * addresses, listeners and zones are refused: they would not be kept.
 *
 * @throws {InvalidRules}
 */
export function aclRules(acl: unknown, where: string): readonly Rule[] {
  if (!Array.isArray(acl)) return listRules(fieldsOf(acl, [...LISTS.keys()], where), where);
  return listOf(acl, RULES_MAX, 'rules', where).map((entry, index) => entryRule(entry, `${where}[${index}]`));
}

function listRules(fields: Fields, where: string): readonly Rule[] {
  const rules: Rule[] = [];
  for (const [name, action] of LISTS) {
    if (fields[name] === undefined) continue;
    rules.push({ effect: 'allow', action, topicFilters: topicFilters(fields[name], `${where}.${name}`) });
  }
  return rules;
}

function entryRule(entry: unknown, where: string): Rule {
  const fields = fieldsOf(entry, ENTRY_FIELDS, where);
  const action = oneOf(fields.action, ACTIONS, `${where}.action`);
  return {
    effect: oneOf(fields.permission, EFFECTS, `${where}.permission`),
    action,
    topicFilters: topicsOf(fields, where),
    ...condition('qos', fields.qos, oneQosOrList, where),
    // EMQX's default for a rule about subscriptions.
    ...(action !== 'subscribe' && condition('retain', fields.retain, boolean, where)),
  };
}

function topicsOf({ topic, topics }: Fields, where: string): readonly string[] {
  if ((topic === undefined) === (topics === undefined))
    throw new InvalidRules(`${where} has to have either topic or topics`);
  return topic === undefined
    ? topicFilters(topics, `${where}.topics`)
    : [topicFilter(topic, `${where}.topic`)];
}

function oneQosOrList(value: unknown, where: string): readonly QoS[] {
  return qosList(typeof value === 'number' ? [value] : value, where);
}
