import { connect as connectInTextFrames } from '@apus/client';
import type { ManagementCall } from '@apus/emulated-aws';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

// A deployment with all of its functions, in one process.
vi.setConfig({ testTimeout: 120_000 });

const RECONNECT_MS = 1_000;

/** A received PUBLISH: on which connection of the client, and with which DUP flag. */
interface Arrival {
  readonly connection: number;
  readonly text: string;
  readonly dup: boolean;
}

/**
 * A post that is answered 500, or not at all, may have arrived, and its client may have acknowledged it and freed its
 * place in the window. If it were posted again on this connection, it would come in addition to the message that has
 * that place by then.
 */
describe('a post without a good answer', () => {
  let time: VirtualTime;
  let world: InProcessWorld;
  let failing = 0;
  let isKilled = false;
  /** The gateway answers no call about connections. */
  let isAway = false;
  /** The packets of each. */
  let posts: string[] = [];
  const clients: mqtt.MqttClient[] = [];

  beforeEach(() => {
    time = new VirtualTime(11);
    failing = 0;
    isKilled = false;
    isAway = false;
    posts = [];
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.end(true);
    await time.advance(1_000);
    world.stop();
    time.restore();
    expect(world.failures).toEqual([]);
  });

  async function start(inlineSubscribersMax: number): Promise<void> {
    const postFailsAfterwards = () => {
      failing -= 1;
      return failing >= 0;
    };
    const killAfterCall = ({ body = '' }: ManagementCall) => {
      posts.push(Buffer.from(body, 'base64').toString('latin1'));
      const isNow = isKilled;
      isKilled = false;
      return isNow;
    };
    const faults = { shuffle: 0, postFailsAfterwards, killAfterCall, callFails: () => isAway };
    world = await time.during(
      startCloudInProcess({ seed: 11, inlineSubscribersMax, faults, resumeSeconds: 0 }),
    );
  }

  function open(clientId: string, more: mqtt.IClientOptions = {}): mqtt.MqttClient {
    const client = connectInTextFrames(
      mqtt,
      world.emulator.url,
      {
        protocolVersion: 5,
        clientId,
        clean: false,
        reconnectPeriod: RECONNECT_MS,
        properties: { sessionExpiryInterval: 3_600, receiveMaximum: 1 },
        ...more,
      },
      { WebSocket: world.emulator.WebSocket, page: {} },
    );
    client.on('error', () => {});
    clients.push(client);
    return client;
  }

  /** A subscribed client, a publisher, and the messages that the subscriber receives from then on. */
  async function begin(more: mqtt.IClientOptions = {}) {
    const first = open('first');
    const reader = open('reader', more);
    await time.advance(2_000);
    first.subscribe('t', { qos: 1 });
    await time.advance(2_000);
    reader.subscribe('t', { qos: 1 });
    await time.advance(10_000);
    first.end(true);
    const arrivals: Arrival[] = [];
    let connection = 0;
    reader.on('connect', () => {
      connection += 1;
    });
    reader.on('packetreceive', (packet) => {
      if (packet.cmd !== 'publish') return;
      arrivals.push({ connection, text: packet.payload.toString(), dup: packet.dup });
    });
    const publisher = open('publisher');
    await time.advance(10_000);
    return { publisher, arrivals };
  }

  const WAYS = [
    { by: 'the frame of its publisher', inlineSubscribersMax: 8 },
    { by: 'a worker', inlineSubscribersMax: 1 },
  ];

  it.each(WAYS)(
    'is not repeated by $by: the connection ends, and the next one gets the message with DUP [MQTT-3.3.4-9]',
    async ({ inlineSubscribersMax }) => {
      await start(inlineSubscribersMax);
      const { publisher, arrivals } = await begin();
      failing = 1;
      publisher.publish('t', 'one', { qos: 1 });
      await time.advance(10);
      publisher.publish('t', 'two', { qos: 1 });
      await time.advance(60_000);
      const before = arrivals.filter(({ connection }) => connection === 0).map(({ text }) => text);
      expect(before.filter((text) => text === 'one').length).toBeLessThan(2);
      expect(arrivals.slice(before.length)).toEqual([
        { connection: 1, text: 'one', dup: true },
        { connection: 1, text: 'two', dup: false },
      ]);
    },
  );

  it('is not repeated by the worker that follows a dead one [MQTT-3.3.4-9]', async () => {
    await start(1);
    // It is not acknowledged: it keeps its place in the window.
    const { publisher, arrivals } = await begin({ customHandleAcks: () => {} });
    isKilled = true;
    publisher.publish('t', 'one', { qos: 1 });
    await time.advance(120_000);
    expect(world.failures.splice(0)).toEqual([expect.stringContaining('timed out')]);
    expect(posts.filter((packets) => packets.includes('one'))).toHaveLength(1);
    // Its connection was closed for that reason: the next one receives the message.
    expect(arrivals.at(-1)).toEqual({ connection: 1, text: 'one', dup: true });
  });

  describe('to a session that ends with its connection', () => {
    const EPHEMERAL = { clean: true, properties: {} };

    it('ends the connection when the gateway answers again, so that its client notices', async () => {
      await start(8);
      const { publisher, arrivals } = await begin(EPHEMERAL);
      const [, reader] = clients;
      const closedAtMs: number[] = [];
      reader?.on('close', () => closedAtMs.push(time.nowMs));
      isAway = true;
      const acknowledged: unknown[] = [];
      publisher.publish('t', 'lost', { qos: 1 }, (error) => acknowledged.push(error));
      await time.advance(25_000);
      // The publisher has its PUBACK, and no queue has the message.
      expect([acknowledged.length, arrivals, closedAtMs]).toEqual([1, [], []]);
      isAway = false;
      const backAtMs = time.nowMs;
      await time.advance(20_000);
      expect(closedAtMs).toHaveLength(1);
      expect((closedAtMs[0] ?? 0) - backAtMs).toBeLessThanOrEqual(10_000);
      publisher.publish('t', 'next', { qos: 1 });
      await time.advance(10_000);
      expect(arrivals.map(({ text }) => text)).toEqual(['next']);
    });

    it('is tried by a worker until the gateway answers', async () => {
      await start(1);
      const { publisher, arrivals } = await begin(EPHEMERAL);
      isAway = true;
      publisher.publish('t', 'one', { qos: 1 });
      await time.advance(25_000);
      isAway = false;
      await time.advance(60_000);
      expect(arrivals.map(({ text }) => text)).toContain('one');
    });
  });
});
