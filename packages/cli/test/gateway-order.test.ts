import type { Authorizer, SubscribeTerms } from '@apus/broker';
import { describe, expect, test, vi } from 'vitest';
import { connect, payloads, publish, subscribe, TextClient } from '../../../test/support/text-client.ts';
import { doorsForTest } from './support/doors.ts';

const SESSION = { clientId: 's', clean: false, properties: { sessionExpiryInterval: 60 } };

/** More than half of a page. */
const LARGE = 'x'.repeat(15_000);

/** Rules that hold back a dequeued message until the test lets it go. */
class SlowRules implements Authorizer {
  readonly leaves = vi.fn();
  #isOpen = Promise.resolve();
  letGo = () => {};

  close(): void {
    this.leaves.mockClear();
    this.#isOpen = new Promise((resolve) => {
      this.letGo = resolve;
    });
  }

  mayPublish(): boolean {
    return true;
  }

  async maySubscribe(_: unknown, clientId: string, __: string, { qos }: SubscribeTerms): Promise<boolean> {
    if (clientId !== SESSION.clientId || qos !== undefined) return true;
    this.leaves();
    await this.#isOpen;
    return true;
  }
}

describe('a session whose queue is fetched at the gateway door of a process', () => {
  test('gets its page before messages that are published meanwhile [MQTT-4.6.0-6]', async () => {
    const rules = new SlowRules();
    const node = await doorsForTest({ gatewayPort: 0, authorizer: rules });
    const url = node.gateway?.url ?? '';
    const { client: publisher } = await TextClient.connect(url);
    const { client: before } = await TextClient.connect(url, SESSION);
    await before.exchange(subscribe('t', { qos: 1 }));
    await before.exchange({ cmd: 'disconnect' });
    const waiting = ['1', '2', '3'].map((each) => each + LARGE);
    for (const payload of waiting) await publisher.exchange(publish('t', payload, { qos: 1 }));
    const client = await TextClient.open(url, 5, '(nudge)');
    const reply = await client.exchange(connect(SESSION));
    expect(payloads(reply.packets)).toEqual(waiting.slice(0, 2));

    rules.close();
    client.sendText('.');
    await vi.waitFor(() => expect(rules.leaves).toHaveBeenCalled());
    // The publisher does not wait: its message waits in the queue, behind the page.
    const { packets: acknowledged } = await publisher.exchange(
      publish('t', 'live', { qos: 1, messageId: 2 }),
    );
    expect(acknowledged).toMatchObject([{ cmd: 'puback', messageId: 2 }]);
    expect([client.pushes.size, client.replies.size]).toEqual([0, 0]);
    rules.letGo();
    expect(payloads((await client.replies.next()).packets)).toEqual([...waiting.slice(2), 'live']);
    // The message may not have fitted behind the page: then the client is told to fetch.
    await expect.poll(() => client.arrivals.slice(-2)).toEqual(['reply', 'nudge']);
  });

  test('does not wait for a client that publishes to it while its own queue is fetched', async () => {
    const node = await doorsForTest({ gatewayPort: 0 });
    const url = node.gateway?.url ?? '';
    const names = ['a', 'b'] as const;
    const session = (clientId: string) => ({ ...SESSION, clientId });
    const { client: publisher } = await TextClient.connect(url);
    for (const name of names) {
      const { client } = await TextClient.connect(url, session(name));
      await client.exchange(subscribe('t', { qos: 1 }));
      await client.exchange({ cmd: 'disconnect' });
    }
    await publisher.exchange(publish('t', 'waited', { qos: 1 }));
    const clients = await Promise.all(
      names.map(async (name) => {
        const { client, reply } = await TextClient.connect(url, session(name));
        return { client, waited: payloads(reply.packets) };
      }),
    );
    expect(clients.map(({ waited }) => waited)).toEqual([['waited'], ['waited']]);
    // Each of the two frames fetches, and publishes to the other client.
    for (const { client } of clients) client.send([publish('t', 'live', { qos: 1 }), { cmd: 'pingreq' }]);
    for (const { client } of clients) {
      const { packets } = await client.replies.next();
      expect(packets.map(({ cmd }) => cmd)).toContain('puback');
    }
  });
});
