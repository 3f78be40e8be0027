import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseApiKeys, parseIdentity } from '../src/index.ts';

const PAGE = readFileSync(new URL('../../../docs/identity.md', import.meta.url), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```json\n(.*?)^```$/gms)].map(([, code = '']) => code);

test('the examples of docs/identity.md are valid', () => {
  const [configuration = '', keys = '', ...others] = EXAMPLES;
  expect(others).toEqual([]);
  expect(() => parseIdentity(configuration, 'identity.md')).not.toThrow();
  expect(parseApiKeys(keys)).toHaveLength(1);
});
