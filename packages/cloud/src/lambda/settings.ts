import type { BrokerLimits, Rules } from '@apus/broker';
import { VARIABLES } from './variables.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** A variable that the function cannot do without. */
export function required(variables: Variables, name: string): string {
  const value = variables[name];
  if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
  return value;
}

/** A positive number, or the default where the variable is not set. */
export function numberOr<T>(variables: Variables, name: string, fallback: T): number | T {
  const value = variables[name];
  if (value === undefined || value === '') return fallback;
  const number = Number(value);
  if (!(number > 0)) throw new Error(`the environment variable ${name} is ${value}: it has to be above 0`);
  return number;
}

/** Undefined where the owner has lifted the limit, by 0. */
export function deliveriesPerMinuteMaxOf(variables: Variables): number | undefined {
  if (variables[VARIABLES.deliveriesPerMinuteMax] === '0') return undefined;
  return numberOr(variables, VARIABLES.deliveriesPerMinuteMax, undefined);
}

export function limitsOf(variables: Variables): Partial<BrokerLimits> {
  const json = variables[VARIABLES.limits];
  return json === undefined ? {} : (JSON.parse(json) as Partial<BrokerLimits>);
}

/** What a token allows that has no filters in it. */
export function defaultRulesOf(variables: Variables): Rules | undefined {
  const json = variables[VARIABLES.tokenDefaultRules];
  return json === undefined ? undefined : (JSON.parse(json) as Rules);
}
