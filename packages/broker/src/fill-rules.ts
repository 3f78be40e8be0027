import { containsWildcard, levelCount } from '@apus/mqtt';
import { BindingRank, bindingRank } from './client-ids.ts';
import type { Identity } from './ports/index.ts';
import type { Rule } from './rules.ts';

/** The values of the placeholders in rules. */
export interface Names {
  readonly identity: Identity;
  readonly clientId: string;
}

/** A filter with this prefix means the filter itself, and nothing is filled in. */
export const LITERAL_PREFIX = 'eq ';

/** The placeholders in the filters of rules. */
export const PLACEHOLDER = /%u|%c|\$\{username\}|\$\{clientid\}/g;
const STARTS_WITH_PLACEHOLDER = /^(?:%u|%c|\$\{username\}|\$\{clientid\})/;

/** The rules for one client. Without placeholders it is the same list for all clients, held once. */
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
 * The filter with its names; undefined: it allows nothing. A client named `+` gets no more than its own topics, and
 * one named `$SYS` none of the server's [MQTT-4.7.2-1].
 */
function fillAllowed(filter: string, names: Names): string | undefined {
  if (!isFillable(filter, names)) return undefined;
  const filled = replacePlaceholders(filter, names);
  return filled.startsWith('$') && STARTS_WITH_PLACEHOLDER.test(filter) ? undefined : filled;
}

/** A level that cannot be filled in denies every topic that it might name. */
function fillDenied(filter: string, names: Names): string {
  const levels = filter.split('/').map((level) => {
    const filled = replacePlaceholders(level, names);
    if (isFillable(level, names)) return filled;
    // The name has several levels: as many wildcards.
    return Array.from({ length: levelCount(filled) }, () => '+').join('/');
  });
  return levels.join('/');
}

/** Replaces in one pass: a user name that contains `%c` stays as it is. */
function replacePlaceholders(text: string, names: Names): string {
  return text.replaceAll(PLACEHOLDER, (placeholder) => nameFor(placeholder, names));
}

function isFillable(text: string, names: Names): boolean {
  const placeholders = text.match(PLACEHOLDER) ?? [];
  return placeholders.every((placeholder) => {
    // A client identifier says something about its client only if no other identity may choose it.
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
