import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import { connect, payloads, publish, subscribe, TextClient } from '../../../../test/support/text-client.ts';
import { startGateway } from '../support/gateway.ts';

const will = { topic: 'will', payload: 'gone', qos: 0, retain: false };
const staying = { properties: { sessionExpiryInterval: 60 } };

async function watcherOf(url: string, filter = 'will'): Promise<TextClient> {
  const { client } = await TextClient.connect(url);
  await client.exchange(subscribe(filter));
  return client;
}

/**
 * A gateway where one call on a store, or the whole handler of a frame ('default'), once armed, waits until the next
 * `$disconnect` is done.
 */
async function gatewayWithLateDefault(heldCall: string) {
  const disconnected = gate();
  const begun = gate();
  let isArmed = false;
  const hold = (name: string): Promise<void> | undefined => {
    if (!isArmed || name !== heldCall) return undefined;
    isArmed = false;
    begun.open();
    return disconnected.opened;
  };
  const gateway = await startGateway({
    onStoreCall: hold,
    wrap: (handlers) => ({
      ...handlers,
      default: async (event, context) => {
        await hold('default');
        return await handlers.default(event, context);
      },
      disconnect: async (event) => {
        const result = await handlers.disconnect(event);
        disconnected.open();
        return result;
      },
    }),
  });
  const arm = (): void => {
    isArmed = true;
  };
  return { gateway, held: { arm, begun: begun.opened } };
}

/** The status that an opening handshake with this header is answered with, and the subprotocol. */
function handshake(
  url: string,
  offered: string | undefined,
): Promise<{ status: number | undefined; chosen: unknown }> {
  return new Promise((resolve, reject) => {
    const upgrade = request(url.replace('ws:', 'http:'), {
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...(offered !== undefined && { 'sec-WEBSOCKET-protocol': offered }),
      },
    });
    upgrade.on('upgrade', ({ statusCode, headers }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, chosen: headers['sec-websocket-protocol'] });
    });
    upgrade.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode, chosen: undefined });
    });
    upgrade.on('error', reject);
    upgrade.end();
  });
}

describe('$connect', () => {
  it.each(['mqtt-text-v1', 'mqtt, mqtt-text-v1', 'other , mqtt-text-v1 '])(
    'takes a client that offers "%s"',
    async (offered) => {
      const { url } = await startGateway();
      expect(await handshake(url, offered)).toEqual({ status: 101, chosen: 'mqtt-text-v1' });
    },
  );

  it.each(['mqtt-text-v1.1', 'mqtt-text-v1.1, mqtt-text-v1', 'mqtt-text-v1, mqtt-text-v1.1, mqtt-text-v2'])(
    'lets a client that offers "%s" offer extensions',
    async (offered) => {
      const { url } = await startGateway();
      expect(await handshake(url, offered)).toEqual({ status: 101, chosen: 'mqtt-text-v1.1' });
    },
  );

  it.each([undefined, 'mqtt', 'mqtt-text-v2', 'MQTT-TEXT-V1'])(
    'refuses one that offers %s',
    async (offered) => {
      const { url } = await startGateway();
      expect(await handshake(url, offered)).toEqual({ status: 400, chosen: undefined });
    },
  );
});

describe('CONNECT', () => {
  it('is answered by the reply: CONNACK, with the limits of this door', async () => {
    const { url } = await startGateway();
    const { connack } = await TextClient.connect(url, { keepalive: 600 });
    expect(connack).toMatchObject({
      cmd: 'connack',
      reasonCode: 0,
      properties: { maximumPacketSize: 24_573, serverKeepAlive: 540 },
    });
    expect(connack?.properties).not.toHaveProperty('topicAliasMaximum');
  });

  it.each([
    [5, { reasonCode: 0x87 }],
    [4, { returnCode: 5 }],
  ])('that is refused in MQTT %i is answered by a push, then the close', async (protocolVersion, code) => {
    const { url } = await startGateway();
    const client = await TextClient.open(url, protocolVersion === 5 ? 5 : 4);
    client.send([connect({ protocolVersion, username: 'mallory' })]);
    expect((await client.pushes.next()).packets).toMatchObject([{ cmd: 'connack', ...code }]);
    expect(await client.expectClose()).toBe(1000);
    expect(client.replies.size).toBe(0);
  });

  it('may be followed by packets in its frame', async () => {
    const { url } = await startGateway();
    const client = await TextClient.open(url);
    const reply = await client.exchange(connect(), subscribe('t'), publish('t', 'x', { qos: 1 }));
    expect(reply.packets.map(({ cmd }) => cmd)).toEqual(['connack', 'suback', 'publish', 'puback']);
  });
});

describe('DISCONNECT', () => {
  it('is answered by an empty reply, and the client closes', async () => {
    const gateway = await startGateway();
    const { client } = await TextClient.connect(gateway.url);
    const reply = await client.exchange(publish('t', 'x', { qos: 1 }), { cmd: 'disconnect' });
    expect(reply.packets).toMatchObject([{ cmd: 'puback' }]);
    client.close();
    expect(await client.expectClose()).toBe(1000);
  });

  it('withdraws the will, and the $disconnect that follows sends none', async () => {
    const gateway = await startGateway();
    const watcher = await watcherOf(gateway.url);
    const { client } = await TextClient.connect(gateway.url, { will });
    await client.exchange({ cmd: 'disconnect' });
    client.close();
    await client.expectClose();
    await gateway.disconnected();
    await gateway.advance(60);
    await watcher.expectNoPush();
  });

  it.each([
    ['while it was being handled', 'detach'],
    ['before it was handled', 'default'],
  ] as const)(
    'withdraws the will also when $disconnect has noticed the loss %s [MQTT-3.14.4-3]',
    async (_when, heldCall) => {
      const { gateway, held } = await gatewayWithLateDefault(heldCall);
      const watcher = await watcherOf(gateway.url);
      const { client } = await TextClient.connect(gateway.url, { will, ...staying });
      held.arm();
      client.send([{ cmd: 'disconnect' }]);
      await held.begun;
      await client.vanish();
      await gateway.disconnected();
      await gateway.advance(60);
      await watcher.expectNoPush();
    },
  );

  it('ends the connection: a further frame closes it, without a reply', async () => {
    const gateway = await startGateway();
    const { client } = await TextClient.connect(gateway.url);
    await client.exchange({ cmd: 'disconnect' });
    client.send([{ cmd: 'pingreq' }]);
    expect(await client.expectClose()).toBe(1000);
    expect(client.replies.size).toBe(0);
  });
});

describe('a lost connection', () => {
  it('sends its will after five seconds, once', async () => {
    const gateway = await startGateway();
    const watcher = await watcherOf(gateway.url);
    const { client } = await TextClient.connect(gateway.url, { will });
    await client.vanish();
    await gateway.disconnected();
    await gateway.advance(4.9);
    await watcher.expectNoPush();
    await gateway.advance(0.1);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['gone']);
    await gateway.advance(60);
    await watcher.expectNoPush();
  });

  it('sends its will after its delay where that is longer', async () => {
    const gateway = await startGateway();
    const watcher = await watcherOf(gateway.url);
    const delayed = { ...will, properties: { willDelayInterval: 20 } };
    const { client } = await TextClient.connect(gateway.url, { will: delayed, ...staying });
    await client.vanish();
    await gateway.disconnected();
    await gateway.advance(19);
    await watcher.expectNoPush();
    await gateway.advance(1);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['gone']);
  });

  it('sends no will when the client is back with its session before the delay is over', async () => {
    const gateway = await startGateway();
    const watcher = await watcherOf(gateway.url);
    const delayed = { ...will, properties: { willDelayInterval: 20 } };
    const session = { clientId: 'c', ...staying };
    const { client } = await TextClient.connect(gateway.url, { ...session, will: delayed });
    await client.vanish();
    await gateway.disconnected();
    await gateway.advance(10);
    await TextClient.connect(gateway.url, { ...session, clean: false });
    await gateway.advance(60);
    await watcher.expectNoPush();
  });

  it('ends a session without expiry, at once where no will waits', async () => {
    const gateway = await startGateway();
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c' });
    await client.exchange(subscribe('t'));
    await client.vanish();
    await gateway.disconnected();
    expect(gateway.stores.sessions.get('default', 'c')).toBeUndefined();
    expect(gateway.stores.subscriptions.match('default', 't')).toEqual([]);
  });
});

describe('$disconnect', () => {
  it('before CONNECT leaves a tombstone: no session is raised, and no will is sent', async () => {
    const { gateway, held } = await gatewayWithLateDefault('load');
    const watcher = await watcherOf(gateway.url);
    const client = await TextClient.open(gateway.url);
    held.arm();
    client.send([connect({ clientId: 'ghost', will, ...staying })]);
    await held.begun;
    await client.vanish();
    await gateway.disconnected();
    await gateway.emulator.quiet();
    expect(gateway.stores.sessions.get('default', 'ghost')).toBeUndefined();
    await gateway.advance(3600);
    await watcher.expectNoPush();
  });

  it.each(['open', 'save'])(
    'while CONNECT is handled, before it calls %s, leaves no connection attached, and the will is sent once',
    async (heldCall) => {
      const { gateway, held } = await gatewayWithLateDefault(heldCall);
      const watcher = await watcherOf(gateway.url);
      const client = await TextClient.open(gateway.url);
      held.arm();
      client.send([connect({ clientId: 'ghost', will, ...staying })]);
      await held.begun;
      await client.vanish();
      await gateway.disconnected();
      await gateway.emulator.quiet();
      expect(gateway.stores.sessions.get('default', 'ghost')?.attachment).toBeUndefined();
      await gateway.advance(5);
      expect(payloads((await watcher.pushes.next()).packets)).toEqual(['gone']);
      await gateway.advance(60);
      await watcher.expectNoPush();
      expect(gateway.stores.sessions.get('default', 'ghost')).toBeUndefined();
    },
  );

  it.each([
    { ending: 'after DISCONNECT only reads that all is over', says: true, calls: ['load'] },
    { ending: 'of a connection that broke does not ask first', says: false, calls: ['end', 'detach'] },
  ])('$ending', async ({ says, calls }) => {
    let seen: string[] | undefined;
    const gateway = await startGateway({
      onStoreCall: (name) => {
        seen?.push(name);
        return undefined;
      },
      wrap: (handlers) => ({
        ...handlers,
        disconnect: async (event) => {
          seen = [];
          return await handlers.disconnect(event);
        },
      }),
    });
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...staying });
    if (says) {
      await client.exchange({ cmd: 'disconnect' });
      client.close();
    } else await client.vanish();
    await gateway.disconnected();
    expect(seen).toEqual(calls);
  });

  it('after CONNECT, for a session that goes on, keeps it for the returning client', async () => {
    const gateway = await startGateway();
    const session = { clientId: 'c', ...staying };
    const { client } = await TextClient.connect(gateway.url, session);
    await client.exchange(subscribe('t', { qos: 1 }));
    await client.vanish();
    await gateway.disconnected();
    const { connack } = await TextClient.connect(gateway.url, { ...session, clean: false });
    expect(connack?.sessionPresent).toBe(true);
  });

  it('that comes late, after the client is back, does not disturb it', async () => {
    const back = gate();
    const gateway = await startGateway({
      wrap: (handlers) => ({
        ...handlers,
        disconnect: async (event) => {
          await back.opened;
          return await handlers.disconnect(event);
        },
      }),
    });
    const watcher = await watcherOf(gateway.url);
    const session = { clientId: 'c', ...staying };
    const first = await TextClient.connect(gateway.url, {
      ...session,
      will: { ...will, properties: { willDelayInterval: 30 } },
    });
    await first.client.vanish();
    const second = await TextClient.connect(gateway.url, { ...session, clean: false });
    expect(second.connack?.sessionPresent).toBe(true);
    back.open();
    await gateway.advance(3600);
    await watcher.expectNoPush();
    expect((await second.client.exchange({ cmd: 'pingreq' })).packets).toMatchObject([{ cmd: 'pingresp' }]);
    expect(gateway.stores.sessions.get('default', 'c')?.attachment).toBeDefined();
  });

  it('that never comes is replaced by the 410 of the next post', async () => {
    const gateway = await startGateway({ emulator: { faults: { dropDisconnect: 1 } } });
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c' });
    await client.exchange(subscribe('t'));
    for (const connectionId of gateway.emulator.connectionIds()) gateway.emulator.cutConnection(connectionId);
    await client.expectClose();
    expect(gateway.stores.sessions.get('default', 'c')?.attachment).toBeDefined();
    const { client: publisher } = await TextClient.connect(gateway.url);
    await publisher.exchange(publish('t', 'x'));
    expect(gateway.stores.sessions.get('default', 'c')).toBeUndefined();
  });
});
