import type { Rule } from '@apus/broker';
import { readClientIds, readRules } from '@apus/identity';
import { type Flags, UsageError, type Values } from './flags.ts';

/** The rules of a token or a user. */
export const RULE_FLAGS: Flags = {
  publish: { value: 'FILTER', multiple: true, help: 'A topic filter that may be published to.' },
  subscribe: { value: 'FILTER', multiple: true, help: 'A topic filter that may be subscribed to.' },
  rule: {
    value: 'JSON',
    multiple: true,
    help: 'A rule, asked before the filters above: {"effect": "deny", "action": "all", "topicFilters": ["a/b"]}.',
  },
  'client-id': {
    value: 'PATTERN',
    multiple: true,
    help: 'A client identifier that may be used; %u is NAME, + one or more characters.',
  },
};

export interface GivenRules {
  readonly rules?: readonly Rule[];
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly clientIds?: readonly string[];
}

/**
 * The rules as they were given; a broker would accept them.
 * @throws {UsageError}
 */
export function rulesFrom(values: Values): GivenRules {
  const rules = values.all('rule').map(parseRule);
  const claims = {
    ...(rules.length > 0 && { rules: rules as readonly Rule[] }),
    publish: values.all('publish'),
    subscribe: values.all('subscribe'),
  };
  const read = readRules(claims, '--');
  if (typeof read === 'string') throw new UsageError(read);
  return { ...claims, ...clientIdsFrom(values) };
}

function parseRule(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--rule takes JSON: ${(error as Error).message}: ${text}`);
  }
}

function clientIdsFrom(values: Values): Pick<GivenRules, 'clientIds'> {
  const clientIds = values.all('client-id');
  if (clientIds.length === 0) return {};
  const read = readClientIds(clientIds, '--client-id');
  if (typeof read === 'string') throw new UsageError(read);
  return { clientIds };
}
