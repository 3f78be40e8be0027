import type { Rule } from '@apus/broker';
import { parseShared, Violation } from '@apus/mqtt';
import { boolean, condition, fieldsOf, listOf, oneOf, qosList, topicFilters } from './fields.ts';
import { InvalidRules } from './invalid-rules.ts';
import { SHARE_GROUPS_MAX } from './limits.ts';

const FIELDS = ['effect', 'action', 'topicFilters', 'qos', 'retain', 'share'];

export const EFFECTS: ReadonlyMap<unknown, Rule['effect']> = new Map([
  ['allow', 'allow'],
  ['deny', 'deny'],
]);

const ACTIONS: ReadonlyMap<unknown, Rule['action']> = new Map([
  ['publish', 'publish'],
  ['subscribe', 'subscribe'],
  ['all', 'all'],
]);

/** One entry of `rules`. @throws {InvalidRules} */
export function readRule(value: unknown, where: string): Rule {
  const fields = fieldsOf(value, FIELDS, where);
  const action = oneOf(fields.action, ACTIONS, `${where}.action`);
  if (action === 'subscribe' && fields.retain !== undefined)
    throw new InvalidRules(`${where}.retain is a condition on messages, and the rule is for subscriptions`);
  if (action === 'publish' && fields.share !== undefined)
    throw new InvalidRules(`${where}.share is a condition on subscriptions, and the rule is for messages`);
  return {
    effect: oneOf(fields.effect, EFFECTS, `${where}.effect`),
    action,
    topicFilters: topicFilters(fields.topicFilters, `${where}.topicFilters`),
    ...condition('qos', fields.qos, qosList, where),
    ...condition('retain', fields.retain, boolean, where),
    ...condition('share', fields.share, shareGroups, where),
  };
}

function shareGroups(value: unknown, where: string): boolean | readonly string[] {
  if (typeof value === 'boolean') return value;
  const groups = listOf(value, SHARE_GROUPS_MAX, 'names of share groups, or true, or false', where);
  if (groups.length > 0 && groups.every(isShareGroup)) return groups;
  throw new InvalidRules(`${where} has to be true, false, or a list of names of share groups`);
}

/** [MQTT-4.8.2-1] [MQTT-4.8.2-2] */
function isShareGroup(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const parsed = parseShared(`$share/${value}/a`);
  return !(parsed instanceof Violation) && parsed.shareGroup === value;
}
