import { ruleFilterProblem } from '@apus/broker';
import type { QoS } from '@apus/mqtt';
import { InvalidRules } from './invalid-rules.ts';
import { TOPIC_FILTERS_MAX } from './limits.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object that may have only these: a misspelt condition must not widen a rule. */
export function fieldsOf(value: unknown, known: readonly string[], where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidRules(`${where} has to be an object with the fields ${known.join(', ')}`);
  for (const name of Object.keys(value)) {
    if (!known.includes(name))
      throw new InvalidRules(`${where} has no field ${JSON.stringify(name)}: it has ${known.join(', ')}`);
  }
  return value as Fields;
}

/** `entries` is the name of the list's entries: 'rules'. */
export function listOf(value: unknown, maximum: number, entries: string, where: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= maximum) return value;
  throw new InvalidRules(`${where} has to be a list of at most ${maximum} ${entries}`);
}

export function oneOf<T>(value: unknown, choices: ReadonlyMap<unknown, T>, where: string): T {
  const choice = choices.get(value);
  if (choice !== undefined) return choice;
  throw new InvalidRules(`${where} has to be one of ${[...choices.keys()].join(', ')}`);
}

export function topicFilters(value: unknown, where: string): readonly string[] {
  const filters = listOf(value, TOPIC_FILTERS_MAX, 'topic filters', where);
  return filters.map((filter, index) => topicFilter(filter, `${where}[${index}]`));
}

export function topicFilter(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new InvalidRules(`${where} has to be a string, a topic filter`);
  const problem = ruleFilterProblem(value);
  if (problem !== undefined) throw new InvalidRules(`${where}: ${problem}`);
  return value;
}

const EVERY_QOS: readonly unknown[] = [0, 1, 2];

export function qosList(value: unknown, where: string): readonly QoS[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= EVERY_QOS.length;
  if (isList && value.every((qos) => EVERY_QOS.includes(qos))) return value as readonly QoS[];
  throw new InvalidRules(`${where} has to be a list of 0, 1 and 2, such as [1, 2]`);
}

export function boolean(value: unknown, where: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new InvalidRules(`${where} has to be true or false`);
}

/** One condition of a rule, if it is given. */
export function condition<K extends 'qos' | 'retain' | 'share', T>(
  name: K,
  value: unknown,
  read: (value: unknown, where: string) => T,
  where: string,
): { readonly [P in K]?: T } {
  const conditions: { [P in K]?: T } = {};
  if (value !== undefined) conditions[name] = read(value, `${where}.${name}`);
  return conditions;
}
