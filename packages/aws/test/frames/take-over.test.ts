import { describe, expect, it } from 'vitest';
import {
  connect,
  type Fields,
  publish,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { startGateway } from '../support/gateway.ts';

describe('a connection that is taken over', () => {
  const session: Fields = { clientId: 'same', properties: { sessionExpiryInterval: 60 } };

  it('whose frame comes afterwards is closed, and the frame has no effect', async () => {
    const gateway = await startGateway();
    const { client: watcher } = await TextClient.connect(gateway.url);
    await watcher.exchange(subscribe('t'));
    const { client } = await TextClient.connect(gateway.url, session);
    const [connectionId = ''] = gateway.emulator.connectionIds().slice(-1);
    // As if the taker had died between its write and the DeleteConnection.
    gateway.links.end(connectionId);
    client.send([publish('t', 'late', { qos: 1 })]);
    expect(await client.expectClose()).toBe(1000);
    expect(client.replies.size).toBe(0);
    await watcher.expectNoPush();
  });

  it('is every one but the last, when many connect at once', async () => {
    const gateway = await startGateway();
    const clients = await Promise.all(Array.from({ length: 8 }, () => TextClient.open(gateway.url)));
    for (const client of clients) client.send([connect({ clientId: 'crowd' })]);
    await expect.poll(() => gateway.emulator.connectionIds()).toHaveLength(1);
    await gateway.emulator.quiet();
    const survivors: TextClient[] = [];
    for (const client of clients) {
      // Others may have had their CONNACK before they were taken over.
      const isAnswered = async (): Promise<boolean> => {
        client.send([{ cmd: 'pingreq' }]);
        let reply = await client.replies.next();
        while (reply.packets[0]?.cmd === 'connack') reply = await client.replies.next();
        return reply.packets[0]?.cmd === 'pingresp';
      };
      if (await isAnswered().catch(() => false)) survivors.push(client);
    }
    expect(survivors).toHaveLength(1);
    expect(gateway.emulator.connectionIds()).toHaveLength(1);
    const attachment = gateway.stores.sessions.get('default', 'crowd')?.attachment;
    expect(gateway.emulator.connectionIds()).toEqual([attachment?.connectionId]);
  });
});
