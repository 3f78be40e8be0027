import { containsWildcard, levelCount } from '@apus/mqtt';
import { BindingRank, bindingRank } from '../model/client-ids.ts';
import type { Identity } from '../model/identity.ts';
import type { Rule } from '../model/rules.ts';

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

/** A filter of a rule, read before a name is filled in: a name is never syntax [SEC-RULES-8]. */
export interface RuleFilter {
  readonly text: string;
  /** It means the filter itself, and none of its topics. */
  readonly isLiteral: boolean;
}

/** A rule for one client. */
export interface FilledRule extends Omit<Rule, 'topicFilters'> {
  readonly topicFilters: readonly RuleFilter[];
}

/** Rules without a name to fill in are read once, for all clients. */
const read = new WeakMap<readonly Rule[], readonly FilledRule[]>();

/** The rules for one client. */
export function fillRules(rules: readonly Rule[], names: Names): readonly FilledRule[] {
  const known = read.get(rules);
  if (known !== undefined) return known;
  const filled = rules.map((rule) => fillRule(rule, names));
  if (!rules.some(({ topicFilters }) => topicFilters.some(hasPlaceholder))) read.set(rules, filled);
  return filled;
}

function fillRule(rule: Rule, names: Names): FilledRule {
  const fill = rule.effect === 'allow' ? fillAllowed : fillDenied;
  const topicFilters: RuleFilter[] = [];
  for (const filter of rule.topicFilters) {
    const isLiteral = filter.startsWith(LITERAL_PREFIX);
    if (isLiteral) topicFilters.push({ text: filter.slice(LITERAL_PREFIX.length), isLiteral });
    else {
      const text = hasPlaceholder(filter) ? fill(filter, names) : filter;
      if (text !== undefined) topicFilters.push({ text, isLiteral });
    }
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
