import { type Ban, TURN_MS_MAX } from '@apus/broker';
import { BanKeeper, type BanKeeperOptions } from '@apus/door';
import { expect, test } from 'vitest';
import { FakeScheduler } from './support/fake-scheduler.ts';

test('clients of a banned name are ended in turns, and all of them when the ban is answered [SEC-WORK-6]', async () => {
  const clock = new FakeScheduler();
  const done: string[] = [];
  const record = (clientId: string) => ({
    session: { tenant: 'default', clientId },
    identity: { tenant: 'default', name: 'mallory' },
  });
  const keeper = new BanKeeper({
    list: { add: () => true, get: () => undefined },
    store: { all: () => [], put: () => true },
    stores: { sessions: { all: () => ['a', 'b', 'c', 'd', 'e'].map(record) } },
    broker: {
      expel: (_tenant: string, clientId: string) => {
        clock.spend(TURN_MS_MAX / 2);
        done.push(clientId);
        return true;
      },
    },
    links: { all: () => [] },
    delays: { free: async () => {} },
    clock,
    log: { info: () => {}, error: (event: string) => done.push(event) },
  } as unknown as BanKeeperOptions);
  const ban = { tenant: 'default', as: 'username', who: 'mallory' } as unknown as Ban;
  const banning = keeper.ban(ban);
  setImmediate(() => done.push('other work'));
  await banning;
  expect(done).toEqual(['a', 'b', 'other work', 'c', 'd', 'e']);
});
