import { describe, expect, it } from 'vitest';
import { subscribe } from '../../../../test/support/text-client.ts';
import type { Attempt } from '../support/fake-gateway.ts';
import { World } from '../support/fan-out.ts';

const STAYS = { clean: false, properties: { sessionExpiryInterval: 3_600 } };

/** The posts of a worker; the door's own have another name. */
const ofWorkers = ({ by }: Attempt) => by !== 'door';

describe('a wide filter', () => {
  it("is served by workers beyond the head, and the head by the publisher's function: each subscriber gets each message once", async () => {
    const world = await World.create();
    const all = await world.subscribers(12);
    await world.publish(['a', 'b', 'c']);
    const [head = '', ...inShard] = all;
    expect(world.gateway.textsTo(head)).toEqual(['a', 'b', 'c']);
    expect(inShard.flatMap((id) => world.gateway.textsTo(id))).toEqual([]);
    expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a', 'b', 'c']);
  });

  it('is read at once and served slice by slice: one write for each, before its posts', async () => {
    const world = await World.create();
    await world.subscribers(11);
    await world.publish(['a']);
    const steps: string[] = [];
    world.gateway.answer = ({ by }) => {
      if (by !== 'door' && steps.at(-1) !== 'posts') steps.push('posts');
      return 'sent';
    };
    const worker = world.process({
      limits: { sliceSubscribersMax: 4 },
      hooks: { before: (call) => void steps.push(call) },
    });
    await worker.work(world.queue.receive());
    expect(steps).toEqual(['read', 'claim', 'posts', 'claim', 'posts', 'claim', 'posts']);
    expect(worker.counts).toMatchObject([{ slices: 3, deliveries: 10, posts: 10, repeatedSlices: 0 }]);
  });

  it('gets the messages of all jobs that came together as one post', async () => {
    const world = await World.create();
    const [, second = '', third = ''] = await world.subscribers(3);
    await world.publish(['a', 'b', 'c', 'd']);
    await world.process().work(world.queue.receive());
    expect(world.gateway.posts.filter(ofWorkers).map(({ packets }) => packets.length)).toEqual([4, 4]);
    expect(world.gateway.textsTo(second)).toEqual(['a', 'b', 'c', 'd']);
    expect(world.gateway.packetsTo(second)).toEqual(world.gateway.packetsTo(third));
  });

  it('is served in order by one batch after another', async () => {
    const world = await World.create();
    const all = await world.subscribers(5);
    const worker = world.process();
    for (const texts of [['a'], ['b', 'c'], ['d']]) {
      await world.publish(texts);
      expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    }
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('hands its message on at the QoS of each, with their identifiers, and retained as published', async () => {
    const world = await World.create();
    await world.subscribers(1);
    const [zero = ''] = await world.subscribers(1, { qos: 0 });
    const published = await world.connect();
    const properties = { subscriptionIdentifier: 7 };
    await world.frame(published, { ...subscribe('wide', { qos: 1, rap: true }), properties });
    await world.publish(['x'], { qos: 1, retain: true });
    await world.process().work(world.queue.receive());
    expect(world.gateway.packetsTo(zero)).toMatchObject([{ qos: 0, retain: false, messageId: undefined }]);
    expect(world.gateway.packetsTo(published)).toMatchObject([
      { qos: 1, retain: true, dup: false, subscriptionIdentifier: 7 },
    ]);
    expect(Number(world.gateway.packetsTo(published)[0]?.messageId)).toBeGreaterThan(0x7fff);
  });

  it('sends nothing back to its publisher with No Local [MQTT-3.8.3-3]', async () => {
    const world = await World.create();
    const [, other = '', publisher = ''] = await world.subscribers(3, { qos: 1, nl: true });
    await world.publishFrom(publisher, ['x']);
    await world.process().work(world.queue.receive());
    expect(world.gateway.textsTo(other)).toEqual(['x']);
    expect(world.gateway.textsTo(publisher)).toEqual([]);
  });

  it('sends a copy for each of two overlapping wide filters: each subscription is served by its own jobs', async () => {
    const world = await World.create();
    const all = await world.subscribers(3);
    for (const id of all) await world.frame(id, subscribe('+', { qos: 1 }));
    await world.publish(['x']);
    expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
    const [head = '', ...inShards] = all;
    // Both heads are served by the publisher, and there overlapping subscriptions are one copy.
    expect(world.gateway.textsTo(head)).toEqual(['x']);
    for (const id of inShards) expect(world.gateway.textsTo(id)).toEqual(['x', 'x']);
  });

  it('skips subscribers that unsubscribe or end before its jobs are served', async () => {
    const world = await World.create();
    const [, stays = '', leaves = '', ends = ''] = await world.subscribers(4);
    await world.publish(['x']);
    await world.frame(leaves, { cmd: 'unsubscribe', messageId: 1, unsubscriptions: ['wide'] });
    await world.frame(ends, { cmd: 'disconnect' });
    await world.process().work(world.queue.receive());
    expect(world.gateway.textsTo(stays)).toEqual(['x']);
    expect(world.gateway.attempts.filter(({ connectionId }) => connectionId === leaves)).toEqual([]);
    expect(world.gateway.attempts.filter(({ connectionId }) => connectionId === ends)).toEqual([]);
  });

  it('has no further write when all its shards are empty', async () => {
    const world = await World.create();
    const all = await world.subscribers(3);
    await world.publish(['x']);
    for (const id of all) await world.frame(id, { cmd: 'disconnect' });
    const calls: string[] = [];
    const worker = world.process({ hooks: { before: (call) => void calls.push(call) } });
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(calls).toEqual(['read']);
  });
});

describe('a persistent session in a shard', () => {
  it('is sent as many messages as its window takes, queues the rest, and fetches missed messages after an absence', async () => {
    const world = await World.create();
    await world.subscribers(1);
    const online = await world.connect({ clientId: 'online', ...STAYS });
    await world.frame(online, subscribe('wide', { qos: 1 }));
    const away = await world.connect({ clientId: 'away', ...STAYS });
    await world.frame(away, subscribe('wide', { qos: 1 }));
    await world.frame(away, { cmd: 'disconnect' });
    await world.publish(['a', 'b']);
    expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
    expect(world.gateway.textsTo(online)).toEqual(['a', 'b']);
    for (const { messageId } of world.gateway.packetsTo(online))
      expect(Number(messageId)).toBeLessThan(0x8000);
    expect(world.gateway.textsTo(away)).toEqual([]);
    const { present, queue } = await world.returns('away');
    expect(present).toBe(true);
    expect(queue).toEqual(['a', 'b']);
  });
});

describe('a batch of several groups', () => {
  it('serves each, and returns those records alone that belong to a group that failed', async () => {
    const world = await World.create();
    const wide = await world.subscribers(4);
    const other = await world.subscribers(3, { qos: 1 }, {}, 'other');
    await world.publish(['a']);
    await world.publish(['x', 'y'], { qos: 1 }, 'other');
    await world.publish(['b']);
    let reads = 0;
    const worker = world.process({
      hooks: {
        before: (call) => {
          if (call === 'read' && ++reads === 1) throw new Error('a defect');
        },
      },
    });
    const records = world.queue.receive();
    const failures = await worker.failuresOf(records);
    const bodies = records.map(({ body }) => JSON.parse(body).topicFilter);
    expect(bodies).toEqual(['wide', 'other', 'other', 'wide']);
    expect(failures).toEqual([records[0]?.messageId, records[3]?.messageId]);
    for (const id of other) expect(world.gateway.textsTo(id)).toEqual(['x', 'y']);
    expect(await worker.failuresOf(records.filter(({ messageId }) => failures.includes(messageId)))).toEqual(
      [],
    );
    for (const id of wide) expect(world.gateway.textsTo(id)).toEqual(['a', 'b']);
  });
});
