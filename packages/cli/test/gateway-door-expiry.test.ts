import type { Credentials } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { TextClient } from '../../../test/support/text-client.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { doorsForTest } from './support/doors.ts';

const LIFE_MS = 60_000;

async function stage() {
  const clock = new FakeScheduler();
  const authenticator = {
    authenticate: ({ username = '' }: Credentials) => ({
      ...{ tenant: 'default', name: username },
      ...(username === 'ada' && { expiresAtMs: clock.now() + LIFE_MS }),
    }),
  };
  const doors = await doorsForTest({ gatewayPort: 0, clock, authenticator });
  const connect = async (username: string, fields = {}) =>
    (await TextClient.connect(doors.gateway?.url ?? '', { username, clientId: username, ...fields })).client;
  return { clock, connect };
}

describe('an idle connection of the gateway door whose identity expires [SEC-EXPIRY-6]', () => {
  test('is closed then with 0x87, and no other is', async () => {
    const { clock, connect } = await stage();
    const ada = await connect('ada');
    const bob = await connect('bob');
    clock.advance(LIFE_MS - 1_000);
    await ada.exchange({ cmd: 'pingreq' });
    clock.advance(1_500);
    const { packets } = await ada.pushes.next();
    expect(packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x87 }]);
    await ada.expectClose();
    clock.advance(LIFE_MS);
    await bob.exchange({ cmd: 'pingreq' });
  });

  test('is left alone where its client has come back by a new connection meanwhile', async () => {
    const { clock, connect } = await stage();
    const first = await connect('ada');
    clock.advance(LIFE_MS / 2);
    const second = await connect('ada');
    await first.expectClose();
    clock.advance(LIFE_MS / 2 + 1_000);
    await second.exchange({ cmd: 'pingreq' });
    clock.advance(LIFE_MS / 2);
    await second.expectClose();
  });
});
