import type { ManagementCall } from '@apus/emulated-aws';
import { describe, expect, it } from 'vitest';
import {
  type Fields,
  payloads,
  publish,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const staying = { properties: { sessionExpiryInterval: 60 } };

/** A client that has subscribed to `t`, and its connection. */
async function subscriber({ url, emulator }: Gateway, fields: Fields = {}, qos = 1) {
  const before = new Set(emulator.connectionIds());
  const { client } = await TextClient.connect(url, fields);
  await client.exchange(subscribe('t', { qos }));
  const connectionId = emulator.connectionIds().find((id) => !before.has(id)) ?? '';
  return { client, connectionId };
}

function posts({ emulator }: Gateway): number {
  return emulator.counters.snapshot().messages.posts.count;
}

/** An emulator that answers posts to some connections with 410 or 429. */
function faultyFor(victims: Set<string>, fault: 'postGone' | 'postThrottled') {
  return {
    emulator: { faults: { [fault]: ({ connectionId }: ManagementCall) => victims.has(connectionId) } },
  };
}

describe('messages to other clients', () => {
  it('do not include the publisher’s own copies: the reply carries them, and they cost no post', async () => {
    const gateway = await startGateway();
    const { client } = await subscriber(gateway);
    const reply = await client.exchange(publish('t', 'x', { qos: 1, messageId: 9 }));
    expect(reply.packets.map(({ cmd }) => cmd)).toEqual(['publish', 'puback']);
    expect(posts(gateway)).toBe(0);
  });

  it('have been posted when the publisher gets its PUBACK', async () => {
    const repliesAtPost: number[] = [];
    const gateway: Gateway = await startGateway({
      emulator: {
        faults: {
          postFails: () => {
            repliesAtPost.push(publisher.arrivals.length);
            return false;
          },
        },
      },
    });
    const watcher = await subscriber(gateway);
    const { client: publisher } = await TextClient.connect(gateway.url);
    for (let count = 0; count < 5; count += 1) {
      await publisher.exchange(publish('t', 'x', { qos: 1 }));
      expect(watcher.client.arrivals.filter((kind) => kind === 'push')).toHaveLength(count + 1);
    }
    // Its CONNACK's reply and those of the publishes before: never the one that was being worked for.
    expect(repliesAtPost).toEqual([1, 2, 3, 4, 5]);
  });

  it('are not stored for a session that ends with its connection, and need no PUBACK', async () => {
    const calls: string[] = [];
    const gateway = await startGateway({
      onStoreCall: (name) => {
        calls.push(name);
        return undefined;
      },
    });
    const watcher = await subscriber(gateway);
    const { client } = await TextClient.connect(gateway.url);
    calls.length = 0;
    for (let count = 0; count < 3; count += 1) await client.exchange(publish('t', 'x', { qos: 1 }));
    for (let count = 0; count < 3; count += 1) {
      const [message] = (await watcher.client.pushes.next()).packets;
      expect(message).toMatchObject({ cmd: 'publish', qos: 1, dup: false });
      expect(Number(message?.messageId)).toBeGreaterThan(0x7fff);
    }
    expect(new Set(calls)).toEqual(new Set(['load', 'match', 'isQueueFull', 'hasRoom']));
  });

  it('do not wait for a PUBACK in a session that ends with its connection; a persistent one stops at its window', async () => {
    const gateway = await startGateway({ limits: { inflightMessagesMax: 3 } });
    const ephemeral = await subscriber(gateway);
    const keeping = await subscriber(gateway, { properties: { receiveMaximum: 100 } });
    const { client } = await TextClient.connect(gateway.url);
    const texts = Array.from({ length: 10 }, (_, index) => String(index));
    await client.exchange(...texts.map((text) => publish('t', text, { qos: 1 })));
    expect(payloads((await ephemeral.client.pushes.next()).packets)).toEqual(texts);
    expect(payloads((await keeping.client.pushes.next()).packets)).toEqual(texts.slice(0, 3));
    await keeping.client.expectNoPush();
  });
});

describe('a handler that fails', () => {
  it('posts the effects of the packets before, and leaves nothing to the next frame', async () => {
    let matches = Number.NEGATIVE_INFINITY;
    const gateway = await startGateway({
      onStoreCall: async (name) => {
        if (name === 'match' && ++matches === 2) throw new Error('the table is away');
      },
    });
    const watcher = await subscriber(gateway);
    const { client } = await TextClient.connect(gateway.url);
    const { client: other } = await TextClient.connect(gateway.url);
    matches = 0;
    client.send([publish('t', 'done'), publish('t', 'failed'), publish('t', 'not begun')]);
    expect(JSON.parse(await client.errors.next())).toMatchObject({ message: 'Internal server error' });
    expect(gateway.failures.splice(0)).toMatchObject([{ message: 'the table is away' }]);
    expect(payloads((await watcher.client.pushes.next()).packets)).toEqual(['done']);
    await other.exchange(publish('t', 'next'));
    expect(payloads((await watcher.client.pushes.next()).packets)).toEqual(['next']);
  });
});

describe('a post that finds its connection gone', () => {
  it('deletes that connection and never the sender’s', async () => {
    const victims = new Set<string>();
    const gateway = await startGateway(faultyFor(victims, 'postGone'));
    const victim = await subscriber(gateway, { clientId: 'victim' });
    const other = await subscriber(gateway);
    const { client } = await TextClient.connect(gateway.url, { clientId: 'sender' });
    victims.add(victim.connectionId);
    const reply = await client.exchange(publish('t', 'x', { qos: 1 }));
    expect(reply.packets).toMatchObject([{ cmd: 'puback' }]);
    expect(payloads((await other.client.pushes.next()).packets)).toEqual(['x']);
    expect(gateway.stores.sessions.get('default', 'victim')).toBeUndefined();
    expect(gateway.stores.sessions.get('default', 'sender')?.attachment).toBeDefined();
    expect((await client.exchange({ cmd: 'pingreq' })).packets).toMatchObject([{ cmd: 'pingresp' }]);
  });

  it('keeps a persistent session, which gets the message when it is back', async () => {
    const victims = new Set<string>();
    const gateway = await startGateway(faultyFor(victims, 'postGone'));
    const session = { clientId: 'victim', ...staying };
    const victim = await subscriber(gateway, session);
    const { client } = await TextClient.connect(gateway.url);
    victims.add(victim.connectionId);
    await client.exchange(publish('t', 'x', { qos: 1 }));
    expect(gateway.stores.sessions.get('default', 'victim')?.attachment).toBeUndefined();
    const { connack, reply } = await TextClient.connect(gateway.url, { ...session, clean: false });
    expect(connack?.sessionPresent).toBe(true);
    expect(reply.packets.slice(1)).toMatchObject([{ cmd: 'publish', dup: true }]);
  });

  it.each([
    ['ends with its connection', {}],
    ['is kept', staying],
  ])(
    'closes it all the same: a client whose connection is open and whose session %s comes back',
    async (_, fields) => {
      const victims = new Set<string>();
      const gateway = await startGateway(faultyFor(victims, 'postGone'));
      const victim = await subscriber(gateway, { clientId: 'victim', ...fields });
      const { client } = await TextClient.connect(gateway.url);
      victims.add(victim.connectionId);
      await client.exchange(publish('t', 'x', { qos: 1 }));
      expect(await victim.client.expectClose()).toBe(1000);
    },
  );

  it('sends the will of the lost one, after its grace', async () => {
    const victims = new Set<string>();
    const gateway = await startGateway(faultyFor(victims, 'postGone'));
    const watcher = await TextClient.connect(gateway.url);
    await watcher.client.exchange(subscribe('will'));
    const victim = await subscriber(gateway, {
      will: { topic: 'will', payload: 'gone', qos: 0, retain: false },
    });
    const { client } = await TextClient.connect(gateway.url);
    victims.add(victim.connectionId);
    await client.exchange(publish('t', 'x'));
    await gateway.advance(4);
    await watcher.client.expectNoPush();
    await gateway.advance(1);
    expect(payloads((await watcher.client.pushes.next()).packets)).toEqual(['gone']);
  });
});

describe('a client that does not read', () => {
  it('is closed when it would miss more, and gets that when it is back', async () => {
    const victims = new Set<string>();
    const gateway = await startGateway(faultyFor(victims, 'postThrottled'));
    const session = { clientId: 'slow', ...staying };
    const slow = await subscriber(gateway, session);
    const { client } = await TextClient.connect(gateway.url);
    victims.add(slow.connectionId);
    const reply = await client.exchange(publish('t', 'x', { qos: 1 }));
    expect(reply.packets).toMatchObject([{ cmd: 'puback' }]);
    expect(await slow.client.expectClose()).toBe(1000);
    const { reply: back } = await TextClient.connect(gateway.url, { ...session, clean: false });
    expect(payloads(back.packets)).toEqual(['x']);
  });
});
