import { type Authenticator, rulesOfLists } from '@apus/broker';
import { describe, expect, it, vi } from 'vitest';
import { publish, subscribe, TextClient } from '../../../test/support/text-client.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { doorsForTest } from './support/doors.ts';

const PER_SECOND = 10;
const BURST = PER_SECOND;

const byUserName: Authenticator = {
  authenticate: ({ username = '' }) => ({ tenant: 't', name: username }),
};

describe('a client of the gateway door beside a node that exceeds the quota of its identity', () => {
  async function start() {
    const clock = new FakeScheduler();
    const quotas = { identity: { publishesPerSecondMax: PER_SECOND } };
    const node = await doorsForTest({ clock, quotas, authenticator: byUserName, gatewayPort: 0 });
    const url = node.gateway?.url ?? '';
    const connect = async (username: string) => (await TextClient.connect(url, { username })).client;
    return { clock, node, connect };
  }

  it('is listed with the deliveries that it has caused at both doors [SEC-TENANT-4]', async () => {
    const quotas = { tenant: { deliveriesPerMinuteMax: 1_000 } };
    const apiKey = 'a-key-of-more-than-22-characters';
    const authenticator: Authenticator = {
      authenticate: () => ({ tenant: 't', name: 'ann', rules: rulesOfLists(['#'], ['#']) }),
    };
    const node = await doorsForTest({ apiKey, quotas, authenticator, gatewayPort: 0 });
    const url = node.gateway?.url ?? '';
    const { client } = await TextClient.connect(url, { username: 'ann' });
    await client.exchange(subscribe('t', { qos: 1 }));
    await client.exchange(message(1), message(2));
    const headers = { authorization: `Bearer ${apiKey}`, 'apus-tenant': 't' };
    const answer = await fetch(new URL('/api/v5/quotas', node.httpUrl), { headers });
    expect((await answer.json()).data).toContainEqual({
      ...{ scope: 'tenant', name: 'deliveriesPerMinuteMax', max: 1_000, used: 2 },
    });
  });

  const message = (messageId: number) => publish('t', 'x', { qos: 1, messageId });
  const messages = (count: number) => Array.from({ length: count }, (_, index) => message(index + 1));

  it('waits for its replies, and loses nothing [SEC-QUOTA-1]', async () => {
    const { clock, connect } = await start();
    const [busy, honest] = [await connect('busy'), await connect('honest')];
    expect((await busy.exchange(...messages(BURST - 1))).packets).toHaveLength(BURST - 1);
    const after = vi.spyOn(clock, 'after');
    busy.send(messages(PER_SECOND));
    await vi.waitFor(() => expect(after).toHaveBeenCalled());
    // Another identity does not wait.
    await honest.exchange(message(1));
    expect(busy.replies.size).toBe(0);
    clock.advance(1_000);
    expect((await busy.replies.next()).packets).toHaveLength(PER_SECOND);
  });

  it('is cut with 0x96 if it would have to wait for more than two seconds, and reconnects by itself [SEC-QUOTA-2]', async () => {
    const { clock, connect } = await start();
    const runaway = await connect('runaway');
    runaway.send(messages(4 * PER_SECOND));
    const { packets } = await runaway.pushes.next();
    expect(packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x96 }]);
    await runaway.expectClose();
    clock.advance(4_000);
    const again = await connect('runaway');
    expect((await again.exchange(message(1))).packets).toMatchObject([{ cmd: 'puback' }]);
  });
});
