import { containsWildcard, levelCount } from '@apus/mqtt';
import { BindingRank, bindingRank } from './client-ids.ts';
import type { Identity } from './ports/index.ts';
import type { Rule } from './rules.ts';

/** Values of the placeholders of rules. */
export interface Names {
  readonly identity: Identity;
  readonly clientId: string;
}

/** Says that a filter of a rule is meant to the letter. */
export const LITERAL_PREFIX = 'eq ';

/** Everything that a filter of a rule may leave to be filled in. */
export const PLACEHOLDER = /%u|%c|\$\{username\}|\$\{clientid\}/g;
const STARTS_WITH_PLACEHOLDER = /^(?:%u|%c|\$\{username\}|\$\{clientid\})/;

/** The rules for one client. The same list where nothing is to be filled in: it is held once for all of them. */
export function fillRules(rules: readonly Rule[], names: Names): readonly Rule[] {
  const filled = rules.map((rule) => fillRule(rule, names));
  return filled.some((rule, index) => rule !== rules[index]) ? filled : rules;
}

function fillRule(rule: Rule, names: Names): Rule {
  if (!rule.topicFilters.some(hasPlaceholder)) return rule;
  const fill = rule.effect === 'allow' ? fillAllowed : fillDenied;
  const topicFilters: string[] = [];
  for (const filter of rule.topicFilters) {
    const filled = hasPlaceholder(filter) ? fill(filter, names) : filter;
    if (filled !== undefined) topicFilters.push(filled);
  }
  return { ...rule, topicFilters };
}

function hasPlaceholder(filter: string): boolean {
  return !filter.startsWith(LITERAL_PREFIX) && filter.search(PLACEHOLDER) !== -1;
}

/**
 * Undefined where the filter allows nothing: a client that calls itself `+` gets no more than its own topics, and one
 * whose name is `$SYS` nothing of the server's [MQTT-4.7.2-1].
 */
function fillAllowed(filter: string, names: Names): string | undefined {
  if (!isFillable(filter, names)) return undefined;
  const filled = replacePlaceholders(filter, names);
  return filled.startsWith('$') && STARTS_WITH_PLACEHOLDER.test(filter) ? undefined : filled;
}

/** A level that cannot be filled in denies every topic that it might stand for. */
function fillDenied(filter: string, names: Names): string {
  const levels = filter.split('/').map((level) => {
    const filled = replacePlaceholders(level, names);
    if (isFillable(level, names)) return filled;
    // As many levels as the name has.
    return Array.from({ length: levelCount(filled) }, () => '+').join('/');
  });
  return levels.join('/');
}

/** In one pass: a user name that contains `%c` is taken as it is. */
function replacePlaceholders(text: string, names: Names): string {
  return text.replaceAll(PLACEHOLDER, (placeholder) => nameFor(placeholder, names));
}

function isFillable(text: string, names: Names): boolean {
  const placeholders = text.match(PLACEHOLDER) ?? [];
  return placeholders.every((placeholder) => {
    // Only a client identifier that no other identity may choose says something about its client.
    if (!isName(placeholder) && !isBound(names)) return false;
    return isOneLevel(nameFor(placeholder, names));
  });
}

function isBound({ identity, clientId }: Names): boolean {
  // [SEC-RULES-2]
  return (bindingRank(identity, clientId) ?? BindingRank.None) > BindingRank.None;
}

function nameFor(placeholder: string, { identity, clientId }: Names): string {
  return isName(placeholder) ? identity.name : clientId;
}

function isName(placeholder: string): boolean {
  return placeholder === '%u' || placeholder.endsWith('{username}');
}

function isOneLevel(name: string): boolean {
  return name !== '' && !name.includes('/') && !containsWildcard(name);
}
