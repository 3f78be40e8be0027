import { type Identity, rulesOfLists } from '@apus/broker';
import { FixedKeys, JwtAuthenticator, secretKey } from '@apus/identity';
import { describe, expect, test } from 'vitest';
import { Built } from './support/built.ts';

const apus = new Built();

describe('apus token', () => {
  const secret = '0123456789abcdef0123456789abcdef';

  test('makes a token that a deployment with the same secret accepts, for its filters', async () => {
    const flags = [
      '--sub',
      'ada',
      '--publish',
      'a/#',
      '--subscribe',
      'b',
      '--subscribe',
      'c',
      '--expires',
      '5m',
    ];
    const { code, stdout } = await apus.run(['token', ...flags], `${secret}\n`);
    expect(code).toBe(0);
    const { rules, ...identity } = await verified(stdout.trim());
    expect(identity).toMatchObject({ tenant: 'default', name: 'ada' });
    expect(rules).toEqual(rulesOfLists(['a/#'], ['b', 'c']));
  });

  test('makes a token with rules, client identifiers and a name', async () => {
    const rule = { effect: 'deny', action: 'all', topicFilters: ['a/b'] } as const;
    const flags = ['--sub', 'ada', '--publish', '#', '--client-id', '%u-+', '--jti', 'one'];
    const { stdout } = await apus.run(['token', ...flags, '--rule', JSON.stringify(rule)], `${secret}\n`);
    expect(await verified(stdout.trim())).toMatchObject({
      rules: [rule, ...rulesOfLists(['#'], [])],
      clientIds: ['%u-+'],
      tokenId: 'one',
    });
  });

  test('signs with the first of a list of secrets, and names it', async () => {
    const list = JSON.stringify([
      { kid: '2', secret },
      { kid: '1', secret: secret.toUpperCase() },
    ]);
    const { stdout } = await apus.run(['token', '--sub', 'ada'], `${list}\n`);
    expect(await verified(stdout.trim())).toMatchObject({ name: 'ada', keyId: '2' });
  });

  async function verified(token: string): Promise<Identity> {
    const options = { source: 'jwt', tenant: 'default', clock: { now: () => Date.now() } };
    const keys = new FixedKeys([secretKey(Buffer.from(secret))]);
    const answer = await new JwtAuthenticator({ ...options, keys }).verify(token);
    if ('refused' in answer || 'notMine' in answer) throw new Error(JSON.stringify(answer));
    return answer;
  }

  test('refuses a secret that is too short to be safe', async () => {
    const { code, stderr } = await apus.run(['token', '--sub', 'ada'], 'sesame\n');
    expect(code).toBe(1);
    expect(stderr).toMatch(/6 bytes; HS256 needs at least 32/);
  });
});
