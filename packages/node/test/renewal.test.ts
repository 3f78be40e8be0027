import { rulesOfLists } from '@apus/broker';
import { tokenMethods } from '@apus/identity';
import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import type { NodeOptions } from '../src/index.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const METHOD = 'CUSTOM-JWT';
const HOUR_MS = 3_600_000;

/** As often as a node looks for connections whose identity has expired. */
const SWEEP_MS = 250;

/** A node whose tokens live for an hour from when they are checked, but for `stale` and `forged`. */
async function nodeWithTokens(clock: FakeScheduler, options: NodeOptions = {}) {
  const authenticationMethods = tokenMethods({
    verify(token) {
      if (token === 'forged') return { refused: 'invalid', reason: 'The token is not valid.' };
      const rules = rulesOfLists(['#'], ['#']);
      const lifeMs = token === 'stale' ? 0 : HOUR_MS;
      return { tenant: 'default', name: 'ada', rules, expiresAtMs: clock.now() + lifeMs };
    },
  });
  return await nodeForTest({ clock, authenticationMethods, ...options });
}

const shown = (token: string) => ({
  properties: { authenticationMethod: METHOD, authenticationData: Buffer.from(token) },
});

const auth = (token: string) => ({ cmd: 'auth', reasonCode: 0x19, ...shown(token) });

test('a token that has ended by the time it is taken ends the connection', async () => {
  const clock = new FakeScheduler();
  const node = await nodeWithTokens(clock);
  const { client } = await RawClient.connect(node.url, shown('first'));
  client.send(auth('stale'));
  await client.next();
  clock.advance(SWEEP_MS);
  await client.expectClose();
});

test('a refused token is logged with the name that it was to renew, and without the token', async () => {
  const lines: unknown[] = [];
  const node = await nodeWithTokens(new FakeScheduler(), {
    logLevel: 'warn',
    logSink: (entry) => lines.push(entry),
  });
  const { client } = await RawClient.connect(node.url, { clientId: 'ada-1', ...shown('first') });
  client.send(auth('forged'));
  expect((await client.expect('disconnect')).reasonCode).toBe(0x87);
  const fields = { name: 'ada', clientId: 'ada-1', reasonCode: 0x87 };
  expect(lines).toMatchObject([{ event: 'renewal-refused', fields }]);
  expect(JSON.stringify(lines)).not.toContain('forged');
});
