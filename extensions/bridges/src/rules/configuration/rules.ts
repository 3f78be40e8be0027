import { type Condition, conditionOf } from '@apus/filters';
import { ConfigurationError, Fields } from '@apus/identity';
import { validateTopicFilter } from '@apus/mqtt';
import type { BridgeCommon } from '../../configuration/common.ts';
import { COMMON_FIELDS, readCommon } from '../../configuration/configuration.ts';
import { countOf } from '../../configuration/numbers.ts';
import type { Place } from '../../configuration/place.ts';
import type { RetryLimits } from '../retry-limits.ts';
import { readTarget, type TargetConfiguration } from './targets.ts';

export type { TargetConfiguration } from './targets.ts';

/** Each rule has a session, and the broker compares each message with all rules. */
export const RULES_MAX = 64;

/** Sends messages that match a filter to a target. */
export interface RuleConfiguration extends BridgeCommon {
  readonly filter: string;
  /** Undefined: all messages of the filter. */
  readonly when: { readonly text: string; readonly condition: Condition } | undefined;
  readonly to: TargetConfiguration;
  /** Most calls on the target at a time. All messages of a topic use the same one of them. */
  readonly parallel: number;
  readonly retry: RetryLimits;
}

const FIELDS = [...COMMON_FIELDS, 'filter', 'when', 'to', 'parallel', 'attempts', 'retrySecondsMax'];
const PARALLEL = 8;
const PARALLEL_MAX = 64;
/** About two minutes with the delays below. */
const ATTEMPTS = 8;
const ATTEMPTS_MAX = 100;
const FIRST_DELAY_MS = 500;
const RETRY_SECONDS_MAX = 60;
const RETRY_SECONDS_MAX_MAX = 3_600;
const EXPRESSION_LENGTH_MAX = 4_096;

/**
 * Reads the rules of a file.
 *
 * @throws {ConfigurationError} that names the place and the expected value
 */
export function readRules(value: unknown, place: Place): readonly RuleConfiguration[] {
  const list = new Fields(value, place.where, ['rules']).raw('rules');
  const where = `${place.where}: rules`;
  if (!Array.isArray(list) || list.length === 0 || list.length > RULES_MAX)
    throw new ConfigurationError(`${where} has to be a list of 1 to ${RULES_MAX} rules.`);
  const rules = list.map((each, index) => readRule(each, { ...place, where: `${where}[${index}]` }));
  const names = new Set<string>();
  for (const [index, { name }] of rules.entries()) {
    if (names.has(name)) throw new ConfigurationError(`${where}[${index}].name: there are two "${name}".`);
    names.add(name);
  }
  return rules;
}

function readRule(value: unknown, place: Place): RuleConfiguration {
  const fields = new Fields(value, place.where, FIELDS);
  const common = readCommon(fields);
  const filter = filterOf(fields);
  return {
    ...common,
    filter,
    when: whenOf(fields),
    to: readTarget(fields.raw('to'), filter, common.name, { ...place, where: `${place.where}.to` }),
    parallel: countOf(fields, 'parallel', 1, PARALLEL_MAX, PARALLEL),
    retry: {
      attempts: countOf(fields, 'attempts', 1, ATTEMPTS_MAX, ATTEMPTS),
      firstDelayMs: FIRST_DELAY_MS,
      delayMsMax: 1000 * countOf(fields, 'retrySecondsMax', 1, RETRY_SECONDS_MAX_MAX, RETRY_SECONDS_MAX),
    },
  };
}

function filterOf(fields: Fields): string {
  const filter = fields.requiredText('filter', 'the topics that the rule is for, as sensors/#.');
  const invalid = validateTopicFilter(filter);
  if (invalid !== undefined) fields.fail('filter', `is no topic filter. ${invalid.reason}.`);
  if (filter.startsWith('$share/') || filter.startsWith('$delayed/'))
    fields.fail('filter', 'has to be without $share and $delayed.');
  return filter;
}

function whenOf(fields: Fields): RuleConfiguration['when'] {
  const text = fields.text('when');
  if (text === undefined) return undefined;
  if (text.length > EXPRESSION_LENGTH_MAX)
    fields.fail('when', `has at most ${EXPRESSION_LENGTH_MAX} characters.`);
  const condition = conditionOf(text);
  return 'problem' in condition ? fields.fail('when', condition.problem) : { text, condition };
}
