import { Unavailable } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import {
  connect,
  type Fields,
  payloads,
  publish,
  type Received,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { startGateway } from '../support/gateway.ts';

const QUOTA_EXCEEDED = 0x97;
const WILL = { topic: 'will', payload: 'gone', qos: 1, retain: false };
const LASTING = { properties: { sessionExpiryInterval: 3600 } };

class Throttled extends Unavailable {
  override readonly name = 'Throttled';
  readonly reasonCode = QUOTA_EXCEEDED;
}

/** A gateway whose store is throttled at the next call of a name, or at the next few. */
async function throttledGateway() {
  let failing: string[] = [];
  const gateway = await startGateway({
    onStoreCall: (name) => {
      if (failing[0] !== name) return undefined;
      failing.shift();
      throw new Throttled('throttled');
    },
  });
  const fail = (...calls: string[]): void => {
    failing = calls;
  };
  const sessionOf = (clientId: string) => gateway.stores.sessions.get('default', clientId);
  return { gateway, fail, sessionOf };
}

async function watcherOf(url: string, filter: string): Promise<TextClient> {
  const { client } = await TextClient.connect(url, { clientId: 'watcher', ...LASTING });
  await client.exchange(subscribe(filter, { qos: 1 }));
  return client;
}

/** The packets that were pushed before the connection was closed. */
async function pushedUntilClose(client: TextClient): Promise<Received[]> {
  await client.expectClose();
  const packets: Received[] = [];
  while (client.pushes.size > 0) packets.push(...(await client.pushes.next()).packets);
  expect(client.replies.size).toBe(0);
  return packets;
}

const codesOf = (packets: readonly Received[]) =>
  packets.map(({ cmd, reasonCode, granted }) => [cmd, reasonCode ?? granted]);

describe('PUBLISH where the store is throttled', () => {
  it('while subscribers are looked up is refused, and the rest of its frame is handled', async () => {
    const { gateway, fail } = await throttledGateway();
    const watcher = await watcherOf(gateway.url, 'a');
    const { client } = await TextClient.connect(gateway.url);
    fail('match');
    const { packets } = await client.exchange(
      publish('a', '1', { qos: 1, messageId: 1 }),
      publish('a', '2', { qos: 1, messageId: 2 }),
    );
    expect(packets).toMatchObject([
      { cmd: 'puback', messageId: 1, reasonCode: QUOTA_EXCEEDED },
      { cmd: 'puback', messageId: 2, reasonCode: 0 },
    ]);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['2']);
  });

  it('in the middle of the delivery ends the connection: earlier packets are acknowledged, later ones are not handled', async () => {
    const { gateway, fail } = await throttledGateway();
    const watcher = await watcherOf(gateway.url, '+');
    const { client } = await TextClient.connect(gateway.url, { clientId: 'publisher', ...LASTING });
    fail('put');
    client.send([
      publish('a', '1', { qos: 1, messageId: 1 }),
      publish('b', '2', { qos: 1, messageId: 2, retain: true }),
      publish('c', '3', { qos: 1, messageId: 3 }),
    ]);
    expect(await pushedUntilClose(client)).toMatchObject([
      { cmd: 'puback', messageId: 1, reasonCode: 0 },
      { cmd: 'disconnect', reasonCode: QUOTA_EXCEEDED },
    ]);
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['1']);
    await watcher.expectNoPush();
  });

  it.each([
    { qos: 1, answer: 'puback' },
    { qos: 2, answer: 'pubrec' },
  ])(
    'is not refused at QoS $qos where it may be a repetition: it is accepted in the end',
    async ({ qos, answer }) => {
      const { gateway, fail } = await throttledGateway();
      const watcher = await watcherOf(gateway.url, 'a');
      const connectAgain = async () => {
        const { client } = await TextClient.connect(gateway.url, {
          clientId: 'publisher',
          clean: false,
          ...LASTING,
        });
        return client;
      };
      const message = publish('a', 'x', { qos });
      for (const call of ['offer', 'match']) {
        const client = await connectAgain();
        fail(call);
        client.send([message]);
        expect(codesOf(await pushedUntilClose(client))).toEqual([['disconnect', QUOTA_EXCEEDED]]);
      }
      const client = await connectAgain();
      expect((await client.exchange(message)).packets).toMatchObject([{ cmd: answer, reasonCode: 0 }]);
      expect(payloads((await watcher.pushes.next()).packets)).toEqual(['x']);
      await watcher.expectNoPush();
    },
  );
});

describe('CONNECT where the store is throttled', () => {
  const connectFrom = async (url: string, fields: Fields) => {
    const client = await TextClient.open(url);
    client.send([connect({ clientId: 'c', ...LASTING, ...fields })]);
    return await pushedUntilClose(client);
  };

  it('before its session is opened is refused', async () => {
    const { gateway, fail, sessionOf } = await throttledGateway();
    fail('open');
    expect(codesOf(await connectFrom(gateway.url, {}))).toEqual([['connack', QUOTA_EXCEEDED]]);
    expect(sessionOf('c')).toBeUndefined();
  });

  it('while waiting messages are dequeued is accepted and then disconnected: the session stays, and the will is sent', async () => {
    const { gateway, fail, sessionOf } = await throttledGateway();
    const watcher = await watcherOf(gateway.url, 'will');
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...LASTING });
    await client.exchange(subscribe('t', { qos: 1 }));
    await client.vanish();
    await gateway.disconnected();
    await gateway.publish('t', 'waits', 1);
    fail('next');
    expect(codesOf(await connectFrom(gateway.url, { clean: false, will: WILL }))).toEqual([
      ['connack', 0],
      ['disconnect', QUOTA_EXCEEDED],
    ]);
    await gateway.emulator.quiet();
    expect(sessionOf('c')).toMatchObject({ attachment: undefined, will: undefined });
    expect(payloads((await watcher.pushes.next()).packets)).toEqual(['gone']);
    const { reply } = await TextClient.connect(gateway.url, { clientId: 'c', clean: false, ...LASTING });
    expect(reply.packets[0]).toMatchObject({ cmd: 'connack', sessionPresent: true });
    expect(payloads(reply.packets)).toEqual(['waits']);
  });

  it('while the previous session is deleted is refused, and leaves neither its will nor its session [MQTT3-3.1.2-8]', async () => {
    const { gateway, fail, sessionOf } = await throttledGateway();
    const watcher = await watcherOf(gateway.url, 'will');
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...LASTING });
    await client.exchange({ cmd: 'disconnect' });
    client.close();
    fail('unacknowledged');
    expect(codesOf(await connectFrom(gateway.url, { will: WILL }))).toEqual([['connack', QUOTA_EXCEEDED]]);
    await gateway.emulator.quiet();
    expect(sessionOf('c')).toBeUndefined();
    const { connack } = await TextClient.connect(gateway.url, { clientId: 'c', clean: false, ...LASTING });
    expect(connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
    await gateway.advance(3600);
    await watcher.expectNoPush();
  });

  it('while a connection is taken over is refused, and leaves a session that goes on as it was', async () => {
    const { gateway, fail, sessionOf } = await throttledGateway();
    const watcher = await watcherOf(gateway.url, 'will');
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...LASTING });
    await client.exchange(subscribe('t', { qos: 1 }));
    fail('end');
    const properties = { sessionExpiryInterval: 1 };
    expect(codesOf(await connectFrom(gateway.url, { clean: false, properties, will: WILL }))).toEqual([
      ['connack', QUOTA_EXCEEDED],
    ]);
    await gateway.emulator.quiet();
    expect(sessionOf('c')).toMatchObject({ attachment: undefined, will: undefined, expirySeconds: 3600 });
    await gateway.advance(60);
    await watcher.expectNoPush();
    expect(sessionOf('c')).toBeDefined();
  });

  it('where its session cannot be closed either is answered by the close of the connection alone', async () => {
    const { gateway, fail } = await throttledGateway();
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...LASTING });
    await client.exchange({ cmd: 'disconnect' });
    client.close();
    fail('unacknowledged', 'end');
    expect(await connectFrom(gateway.url, { will: WILL })).toEqual([]);
  });
});

describe('SUBSCRIBE where the store is throttled', () => {
  const begin = async () => {
    const throttled = await throttledGateway();
    const { gateway } = throttled;
    for (const topic of ['r/0', 'r/1']) await gateway.publish(topic, topic, 1, true);
    const { client } = await TextClient.connect(gateway.url, { clientId: 'c', ...LASTING });
    return { ...throttled, client };
  };
  const request = subscribe('r/#', { qos: 1 });

  it('while it is stored is refused', async () => {
    const { client, fail } = await begin();
    fail('put');
    expect(codesOf((await client.exchange(request)).packets)).toEqual([['suback', [QUOTA_EXCEEDED]]]);
  });

  it('while retained messages are read is answered once, and they come with the next fetch', async () => {
    const { client, fail } = await begin();
    fail('match');
    const reply = await client.exchange(request);
    expect(codesOf(reply.packets)).toEqual([['suback', [1]]]);
    expect(reply.more).toBe(true);
    const fetched = await client.fetch();
    expect(payloads(fetched.packets)).toEqual(['r/0', 'r/1']);
    expect(fetched.more).toBe(false);
  });

  it('while they are stored is answered once, and the connection ends: some may have been sent', async () => {
    const { client, fail } = await begin();
    fail('offer');
    client.send([request]);
    expect(codesOf(await pushedUntilClose(client))).toEqual([
      ['suback', [1]],
      ['disconnect', QUOTA_EXCEEDED],
    ]);
  });
});
