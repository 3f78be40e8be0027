import { NO_QUOTAS, withQuotas } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { cuttable } from '../support/cuttable.ts';
import { connect, type Fields, payloads, publish, subscribe, TextClient } from '../support/text-client.ts';
import { STREAMS_TABLE } from './names.ts';
import type { CloudWorldOptions } from './options.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

/** Messages of each concurrent publisher: all together fit into one SUBACK's history. */
const BESIDE = 300;

const STREAMS = [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 }];

let world: CloudWorld;

afterEach(async () => {
  await world.stop();
  expect(world.failures).toEqual([]);
});

async function start(options: Partial<CloudWorldOptions> = {}): Promise<void> {
  world = await startCloud({ seed: 5, streams: STREAMS, ...options });
}

/** The program in docs/streams.md: it keeps the position and subscribes in `connect`. */
class Program {
  readonly seen = new Set<string>();
  readonly recovered: string[] = [];
  #position: string | undefined;
  #isReading = false;

  constructor(url: string, topic: string) {
    const options = { protocolVersion: 5, resubscribe: false, reconnectPeriod: 5 } as const;
    // Of the random time before it comes back, the shortest.
    const client = connectInTextFrames(mqtt, url, options, { random: () => 0 });
    onTestFinished(() => void client.end(true));
    client.on('error', () => {});
    client.on('packetreceive', (packet) => {
      if (packet.cmd !== 'suback') return;
      const said = packet.properties?.userProperties as Record<string, string> | undefined;
      this.recovered.push(String(said?.['stream-recovered']));
    });
    client.on('message', (_topic, payload, { properties }) => {
      this.seen.add(payload.toString());
      const said = properties?.userProperties as Record<string, string> | undefined;
      if (this.#isReading) this.#position = said?.['stream-position'];
    });
    client.on('connect', () => {
      this.#isReading = false;
      const userProperties: Record<string, string> =
        this.#position === undefined
          ? { 'stream-offset': 'earliest' }
          : { 'stream-position': this.#position };
      client.subscribe(topic, { qos: 0, properties: { userProperties } }, (error) => {
        this.#isReading = error === null;
      });
    });
  }
}

describe('a program of mqtt.js at a deployment that is cut again and again', () => {
  it.each([
    ['named by the head of their filter', 8],
    ['served by workers', 1],
  ])(
    'misses no message that was acknowledged, of several that publish side by side (readers %s)',
    async (_, inlineSubscribersMax) => {
      await start({ inlineSubscribersMax });
      const way = await cuttable(world.url);
      const programs = [1, 2, 3].map(() => new Program(way.url, 'chat/room'));
      const acknowledged = new Set<string>();
      const publishers = await Promise.all(
        [1, 2, 3].map(() => connectInTextFrames(mqtt, world.url, { protocolVersion: 5 })),
      );
      onTestFinished(async () => {
        for (const each of publishers) await each.endAsync(true);
      });
      const send = async (index: number, number: number) => {
        const payload = `${index}-${number}`;
        await publishers[index]?.publishAsync('chat/room', payload, { qos: 1 });
        acknowledged.add(payload);
      };
      const beside = [1, 2].map(async (index) => {
        for (let number = 1; number <= BESIDE; number += 1) await send(index, number);
      });
      for (let number = 1; number <= 30; number += 1) {
        await send(0, number);
        if (number % 10 !== 0) continue;
        const before = programs.map(({ recovered }) => recovered.length);
        way.cut();
        const isBack = () => programs.every(({ recovered }, each) => recovered.length > (before[each] ?? 0));
        await expect.poll(isBack, { timeout: 60_000 }).toBe(true);
      }
      await Promise.all(beside);
      expect(acknowledged.size).toBeGreaterThan(100);
      for (const { seen } of programs)
        await expect
          .poll(() => [...acknowledged].filter((each) => !seen.has(each)), { timeout: 60_000 })
          .toEqual([]);
      for (const { recovered } of programs) expect(new Set(recovered)).toEqual(new Set(['true']));
    },
  );
});

it('what a client has read of streams is charged to its identity: beyond its rate it is refused for now [SEC-POOL-6]', async () => {
  await start({ quotas: withQuotas(NO_QUOTAS, { identity: { writesPerMinuteMax: 10 } }) });
  const { client: publisher } = await TextClient.connect(world.url);
  for (let topic = 0; topic < 60; topic += 1)
    await publisher.exchange(publish(`chat/${topic}`, 'x', { qos: 1, messageId: 1 }));
  const { client } = await TextClient.connect(world.url, { clientId: 'reader' });
  const read = async (messageId: number) => {
    const properties = { userProperties: { 'stream-offset': 'earliest' } };
    const packet = { ...subscribe('chat/#', { qos: 0 }), messageId, properties };
    const { packets } = await client.exchange(packet);
    return packets[0] as unknown as { readonly granted: readonly number[] };
  };
  // The first takes more than a minute's share, and a debt of a minute is the limit.
  expect(await read(1)).toMatchObject({ granted: [0] });
  expect(await read(2)).toMatchObject({ granted: [0x97] });
});

describe('a connection that reads a stream', () => {
  const OFFER = '(nudge,move,resume)';

  async function reading(session: Fields = {}) {
    const client = await TextClient.open(world.url, 5, OFFER);
    const { move = '' } = await client.exchange(connect({ clientId: 'reader', ...session }));
    const properties = { userProperties: { 'stream-offset': 'latest' } };
    await client.exchange({ ...subscribe('chat/room', { qos: 0 }), properties });
    return { client, ticket: move.split(',')[0] ?? '' };
  }

  const KEPT = { clean: false, properties: { sessionExpiryInterval: 60 } };

  async function movedWith(ticket: string) {
    const client = await TextClient.open(world.url, 5, OFFER);
    client.sendText(`~${ticket}`);
    const { move = '' } = await client.replies.next();
    return { client, ticket: move.split(',')[0] ?? '' };
  }

  it.each([
    ['ends with its connection, in the head', {}, 8],
    ['ends with its connection, in a shard', {}, 0],
    ['is kept, in the head', KEPT, 8],
    ['is kept, in a shard', KEPT, 0],
  ])(
    'moves, and reads on with all its subscriptions (a session that %s)',
    async (_, session, inlineSubscribersMax) => {
      await start({ inlineSubscribersMax });
      const { client: publisher } = await TextClient.connect(world.url);
      let reader = await reading(session);
      for (const later of ['chat/later', 'chat/last']) {
        reader = await movedWith(reader.ticket);
        // A subscription that begins after a move moves with the next one.
        const { packets } = await reader.client.exchange(subscribe(`$stream/chat/${later}`));
        expect(packets).toMatchObject([{ granted: [0] }]);
      }
      reader = await movedWith(reader.ticket);
      for (const topic of ['chat/room', 'chat/later', 'chat/last']) {
        await publisher.exchange(publish(topic, `to ${topic}`, { qos: 1 }));
        expect(payloads((await reader.client.pushes.next()).packets)).toEqual([`to ${topic}`]);
      }
      await reader.client.expectNoPush();
    },
  );

  it('has moved, and is sent nothing on the next connection before it subscribes there', async () => {
    await start();
    const { client, ticket } = await reading(KEPT);
    const moved = await movedWith(ticket);
    await client.expectClose();
    await moved.client.vanish();
    await world.emulator.quiet();
    const { client: next } = await TextClient.connect(world.url, { clientId: 'reader', ...KEPT });
    const { client: publisher } = await TextClient.connect(world.url);
    await publisher.exchange(publish('chat/room', 'missed', { qos: 1 }));
    await next.expectNoPush();
  });

  it('has moved, and is not resumed without its program', async () => {
    await start();
    const moved = await movedWith((await reading()).ticket);
    await moved.client.vanish();
    await world.emulator.quiet();
    const other = await TextClient.open(world.url);
    other.sendText(`~!${moved.ticket}`);
    expect((await other.replies.next()).move).toBe('!unknown');
  });

  it.each([
    ['reads', '$stream/chat/chat/room', true],
    ['does not', 'chat/room', false],
  ])(
    'ends where a message cannot be delivered, only if it reads the stream (it %s)',
    async (_, filter, isEnded) => {
      let isBroken = false;
      await start({ faults: { postFails: () => isBroken } });
      const { client } = await TextClient.connect(world.url);
      await client.exchange(subscribe(filter, { qos: 0 }));
      const { client: publisher } = await TextClient.connect(world.url);
      isBroken = true;
      const { packets } = await publisher.exchange(publish('chat/room', 'lost', { qos: 1 }));
      isBroken = false;
      expect(packets).toMatchObject([{ cmd: 'puback' }]);
      if (isEnded) await client.expectClose();
      else {
        await publisher.exchange(publish('chat/room', 'next', { qos: 1 }));
        expect((await client.pushes.next()).packets.map(({ payload }) => String(payload))).toEqual(['next']);
      }
    },
  );

  it('of a session that is kept is sent nothing on the next connection before it subscribes there', async () => {
    await start();
    const kept = { clientId: 'kept', clean: false, properties: { sessionExpiryInterval: 60 } };
    const properties = { userProperties: { 'stream-offset': 'earliest' } };
    const reads = { ...subscribe('chat/room', { qos: 0 }), properties };
    const { client: before } = await TextClient.connect(world.url, kept);
    await before.exchange(reads);
    await before.vanish();
    await world.emulator.quiet();
    const { client } = await TextClient.connect(world.url, kept);
    const { client: publisher } = await TextClient.connect(world.url);
    await publisher.exchange(publish('chat/room', '1', { qos: 1 }));
    // First SUBACK, then the message: it was not pushed before.
    const { packets } = await client.exchange(reads);
    expect(packets.map(({ cmd }) => cmd)).toEqual(['suback', 'publish']);
    await publisher.exchange(publish('chat/room', '2', { qos: 1 }));
    expect((await client.pushes.next()).packets.map(({ payload }) => String(payload))).toEqual(['2']);
  });

  it('is not resumed by the transport alone, as its program would not know of missing messages', async () => {
    await start();
    const { client, ticket } = await reading();
    await client.vanish();
    await world.emulator.quiet();
    const other = await TextClient.open(world.url);
    other.sendText(`~!${ticket}`);
    expect((await other.replies.next()).move).toBe('!unknown');
  });
});

it('a topic without a stream causes no read or write of streams', async () => {
  const asked: string[] = [];
  await start({
    alterations: {
      dynamo: (client) => ({
        send: ((command: { readonly input: object }) => {
          asked.push(JSON.stringify(command.input));
          return client.send(command as never);
        }) as typeof client.send,
      }),
    },
  });
  const { client } = await TextClient.connect(world.url);
  await client.exchange(subscribe('elsewhere/#', { qos: 0 }));
  await client.exchange(publish('elsewhere/a', 'x', { qos: 1, retain: true }));
  expect(asked.some((each) => each.includes('elsewhere'))).toBe(true);
  expect(asked.filter((each) => each.includes(STREAMS_TABLE))).toEqual([]);
  await client.exchange(publish('chat/a', 'x', { qos: 1 }));
  expect(asked.some((each) => each.includes(STREAMS_TABLE))).toBe(true);
});
