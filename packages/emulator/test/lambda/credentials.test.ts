import { expect, test } from 'vitest';
import { DEAD_PRINCIPALS_MAX, Principals } from '../../src/lambda/credentials.ts';
import type { ExecutionEnvironment } from '../../src/lambda/execution-environment.ts';

test('the credentials of environments that died long ago are forgotten, and of no other [SEC-GROWTH-7]', () => {
  const principals = new Principals();
  const add = (accessKeyId: string) => {
    const death = new AbortController();
    const environment = { signal: death.signal } as ExecutionEnvironment;
    principals.add({ credentials: { accessKeyId, secretAccessKey: '', sessionToken: '' }, environment });
    return death;
  };
  add('living');
  for (let number = 0; number <= DEAD_PRINCIPALS_MAX; number += 1) add(`dead-${number}`).abort();
  expect(principals.find('dead-0')).toBeUndefined();
  expect(principals.find('dead-1')).toBeDefined();
  expect(principals.find('living')).toBeDefined();
});
