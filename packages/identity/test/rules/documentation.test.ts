import { readFileSync } from 'node:fs';
import { rulesAuthorizer } from '@apus/broker';
import { expect, test } from 'vitest';
import { readClientIds, readRules } from '../../src/index.ts';

const PAGE = readFileSync(new URL('../../../../docs/rules.md', import.meta.url), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```json\n(.*?)^```$/gms)].map(([, code = '']) => JSON.parse(code));
const ADA = { tenant: 'default', name: 'ada' };

test('every example of rules is accepted', () => {
  expect(EXAMPLES).toHaveLength(5);
  for (const { clientIds, ...rules } of EXAMPLES) {
    expect(readRules(rules)).toBeInstanceOf(Array);
    if (clientIds !== undefined) expect(readClientIds(clientIds, 'clientIds')).toEqual(clientIds);
  }
});

test('the example decides as the page says', () => {
  const rules = readRules(EXAMPLES[1]);
  if (typeof rules === 'string') throw new Error(rules);
  const terms = { qos: 0, shareGroup: undefined } as const;
  const maySubscribe = (filter: string) =>
    rulesAuthorizer.maySubscribe({ ...ADA, rules }, 'c', filter, terms);
  expect(maySubscribe('rooms/+')).toBe(true);
  expect(maySubscribe('rooms/#')).toBe(false);
});
