import { ruleFilterProblem } from '@apus/broker';
import type { DefaultRules } from '../jwt/claims.ts';
import { Fields } from './fields.ts';

/** `{"publish": ["chat/%u"], "subscribe": ["chat/#"]}` */
export function readDefaultRules(fields: Fields, name: string): DefaultRules | undefined {
  const value = fields.raw(name);
  if (value === undefined) return undefined;
  const rules = new Fields(value, `${fields.where}.${name}`, ['publish', 'subscribe']);
  return { publish: filtersIn(rules, 'publish'), subscribe: filtersIn(rules, 'subscribe') };
}

function filtersIn(rules: Fields, name: 'publish' | 'subscribe'): readonly string[] {
  const filters = rules.list(name) ?? [];
  for (const filter of filters) {
    if (typeof filter !== 'string') return rules.fail(name, 'has to be a list of topic filters.');
    const problem = ruleFilterProblem(filter);
    if (problem !== undefined) return rules.fail(name, `has ${JSON.stringify(filter)}: ${problem}`);
  }
  return filters as readonly string[];
}
