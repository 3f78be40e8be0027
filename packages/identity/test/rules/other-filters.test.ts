import { expect, it } from 'vitest';
import { KEY_LENGTH_MIN, parseApiKeys, readIdentity } from '../../src/index.ts';

const WRONG = [
  ['a/#/b', '#'],
  ['$share/group/a', 'without $share/'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of somebody else's.
  ['a/${user}', 'is no placeholder'],
] as const;

it.each(WRONG)(
  'a filter of an API key is read as that of a rule: %j is refused [SEC-RULES-3]',
  (filter, why) => {
    const keys = [{ name: 'a', key: 'k'.repeat(KEY_LENGTH_MIN), publish: [filter] }];
    expect(() => parseApiKeys(JSON.stringify({ keys }))).toThrow(why);
  },
);

it.each(WRONG)('a default rule of tokens is read as a rule: %j is refused [SEC-RULES-3]', (filter, why) => {
  const jwt = { secret: 's'.repeat(32), defaultRules: { publish: [], subscribe: [filter] } };
  expect(() => readIdentity({ authenticators: [{ jwt }] }, 'test')).toThrow(why);
});
