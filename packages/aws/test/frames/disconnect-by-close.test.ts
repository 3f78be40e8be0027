import { describe, expect, it } from 'vitest';
import { connect, payloads, publish, subscribe, TextClient } from '../../../../test/support/text-client.ts';
import { DISCONNECT_CODE } from '../../src/index.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const will = { topic: 'will', payload: 'gone', qos: 0, retain: false };

/** A client that has offered these extensions, and what CONNACK's reply has taken of them. */
async function offering(url: string, offer: string, fields = {}) {
  const client = await TextClient.open(url, 5, offer);
  const { extensions } = await client.exchange(connect(fields));
  return { client, extensions };
}

async function watcherOf(url: string): Promise<TextClient> {
  const { client } = await TextClient.connect(url, { clientId: 'watcher' });
  await client.exchange(subscribe('will'));
  return client;
}

async function leaves(gateway: Gateway, client: TextClient, code = DISCONNECT_CODE): Promise<void> {
  client.close(code);
  await gateway.disconnected();
}

describe('DISCONNECT in the close', () => {
  it('is taken by a server that is offered it', async () => {
    const { url } = await startGateway();
    expect((await offering(url, '(close)')).extensions).toEqual(['close']);
  });

  it('ends the session at once, without a frame and without waiting for a resume', async () => {
    const gateway = await startGateway();
    const { client } = await offering(gateway.url, '(move,resume,close)', { clientId: 'leaver' });
    await client.exchange(subscribe('a'));
    await leaves(gateway, client);
    expect(gateway.stores.sessions.get('default', 'leaver')).toBeUndefined();
    const { client: publisher } = await TextClient.connect(gateway.url);
    await publisher.exchange(publish('a', 'x', { qos: 1 }));
    expect(gateway.emulator.counters.snapshot().messages.posts.count).toBe(0);
  });

  it('ends a session that waits already, as a publisher found the connection gone before `$disconnect` came', async () => {
    let hear = () => {};
    const isHeard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const gateway = await startGateway({
      wrap: (handlers) => ({
        ...handlers,
        disconnect: async (event) => {
          await isHeard;
          return await handlers.disconnect(event);
        },
      }),
    });
    const { client } = await offering(gateway.url, '(move,resume,close)', { clientId: 'leaver' });
    await client.exchange(subscribe('a'));
    const { client: publisher } = await TextClient.connect(gateway.url);
    client.close(DISCONNECT_CODE);
    await client.expectClose();
    await publisher.exchange(publish('a', 'x', { qos: 1 }));
    expect(gateway.stores.sessions.get('default', 'leaver')?.detachedAtMs).toBeDefined();
    hear();
    await gateway.disconnected();
    expect(gateway.stores.sessions.get('default', 'leaver')).toBeUndefined();
    const [puback] = (await publisher.exchange(publish('a', 'x', { qos: 1, messageId: 2 }))).packets;
    expect(puback).toMatchObject({ cmd: 'puback', reasonCode: 0x10 });
  });

  it('is a loss where it was not offered: the session waits for its client', async () => {
    const gateway = await startGateway();
    const { client } = await offering(gateway.url, '(move,resume)', { clientId: 'coincidence' });
    await leaves(gateway, client);
    expect(gateway.stores.sessions.get('default', 'coincidence')).toBeDefined();
  });

  it('leaves the will of a client that has one: only DISCONNECT withdraws it [MQTT-3.14.4-3]', async () => {
    const gateway = await startGateway();
    const watcher = await watcherOf(gateway.url);
    const { client } = await offering(gateway.url, '(close)', { will });
    await leaves(gateway, client);
    await gateway.advance(6);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['gone']);
  });

  it('leaves a session that outlives its connection, which keeps its messages and ends in its time', async () => {
    const gateway = await startGateway();
    const staying = { clientId: 'staying', properties: { sessionExpiryInterval: 60 } };
    const { client } = await offering(gateway.url, '(move,resume,close)', staying);
    await client.exchange(subscribe('a', { qos: 1 }));
    await leaves(gateway, client);
    const left = gateway.stores.sessions.get('default', 'staying');
    expect(left).toMatchObject({ attachment: undefined, expirySeconds: 60 });
    const { client: publisher } = await TextClient.connect(gateway.url);
    await publisher.exchange(publish('a', 'x', { qos: 1 }));
    expect(gateway.emulator.counters.snapshot().messages.posts.count).toBe(0);
    const again = await TextClient.open(gateway.url, 5, '(close)');
    const { packets } = await again.exchange(connect({ ...staying, clean: false }));
    expect(payloads(packets)).toEqual(['x']);
    await leaves(gateway, again);
    await gateway.advance(61);
    expect(gateway.stores.sessions.get('default', 'staying')).toBeUndefined();
  });

  it('loses no message of a session that outlives its connection when $disconnect does not come', async () => {
    const gateway = await startGateway({
      wrap: (handlers) => ({ ...handlers, disconnect: async () => ({ statusCode: 200 }) }),
    });
    const staying = { clientId: 'staying', properties: { sessionExpiryInterval: 60 } };
    const { client } = await offering(gateway.url, '(close)', staying);
    await client.exchange(subscribe('a', { qos: 1 }));
    client.close(DISCONNECT_CODE);
    await client.expectClose();
    const { client: publisher } = await TextClient.connect(gateway.url);
    await publisher.exchange(publish('a', 'x', { qos: 1 }), publish('a', 'y', { qos: 1, messageId: 2 }));
    expect(gateway.stores.sessions.get('default', 'staying')?.detachedAtMs).toBeDefined();
    const again = await TextClient.open(gateway.url);
    const { packets } = await again.exchange(connect({ ...staying, clean: false }));
    expect(payloads(packets)).toEqual(['x', 'y']);
  });

  it('does nothing to a session that another connection has taken over', async () => {
    const gateway = await startGateway();
    const { client: first } = await offering(gateway.url, '(close)', { clientId: 'both' });
    first.close(DISCONNECT_CODE);
    const { client: second } = await offering(gateway.url, '(close)', { clientId: 'both' });
    await gateway.emulator.quiet();
    expect(gateway.stores.sessions.get('default', 'both')?.attachment).toBeDefined();
    await second.exchange({ cmd: 'pingreq' });
  });

  it('holds on the connection that a session has moved to', async () => {
    const gateway = await startGateway();
    const client = await TextClient.open(gateway.url, 5, '(move,resume,close)');
    const { move = '' } = await client.exchange(connect({ clientId: 'mover' }));
    const next = await TextClient.open(gateway.url, 5, '(move)');
    next.sendText(`~${move.split(',')[0]}`);
    await next.replies.next();
    await gateway.disconnected();
    await leaves(gateway, next);
    expect(gateway.stores.sessions.get('default', 'mover')).toBeUndefined();
  });

  it.each([1000, 4000, 4002])(
    'with another close code, %i, is a loss: the session waits for its client',
    async (code) => {
      const gateway = await startGateway();
      const { client } = await offering(gateway.url, '(move,resume,close)', { clientId: 'other' });
      await leaves(gateway, client, code);
      expect(gateway.stores.sessions.get('default', 'other')).toBeDefined();
    },
  );

  it('does nothing on a connection that has brought no CONNECT', async () => {
    const gateway = await startGateway();
    await leaves(gateway, await TextClient.open(gateway.url, 5, '(close)'));
    expect(gateway.failures).toEqual([]);
  });
});
