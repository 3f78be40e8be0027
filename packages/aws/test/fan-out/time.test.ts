import { describe, expect, it } from 'vitest';
import type { SqsRecord } from '../../src/events/sqs.ts';
import { lagMsOf } from '../../src/fan-out/lag.ts';
import { POST_TIMEOUT_MS } from '../../src/posts/signed-poster.ts';
import type { Attempt } from '../support/fake-gateway.ts';
import { World } from '../support/fan-out.ts';

const LIMITS = { sliceSubscribersMax: 4, reserveMs: 2_000, sliceMsMax: 2_000 };

const ofWorkers = ({ by }: Attempt) => by !== 'door';

describe('a worker whose time comes to its end', () => {
  it('begins no further slice, hands back what is left at once, and the next one goes on there', async () => {
    const world = await World.create();
    const all = await world.subscribers(13, { qos: 0 });
    await world.publish(['a', 'b']);
    const records = world.queue.receive();
    let posts = 0;
    const worker = world.process({
      limits: LIMITS,
      // The first slice takes all the time there is but three seconds.
      remainingMs: () => (posts >= 4 ? 3_000 : 30_000),
    });
    world.gateway.answer = () => {
      posts += 1;
      return 'sent';
    };
    expect(await worker.failuresOf(records)).toEqual(['message-0', 'message-1']);
    expect(worker.givenBack).toEqual([{ messageIds: ['message-0', 'message-1'], afterSeconds: 0 }]);
    expect(world.gateway.posts.filter(ofWorkers)).toHaveLength(4);
    const successor = world.process({ limits: LIMITS });
    expect(await successor.failuresOf(records)).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a', 'b']);
  });

  it('returns the groups that it has not begun, in full', async () => {
    const world = await World.create();
    await world.subscribers(3);
    const others = await world.subscribers(3, { qos: 1 }, {}, 'other');
    await world.publish(['a']);
    await world.publish(['x', 'y'], { qos: 1 }, 'other');
    const records = world.queue.receive();
    const posts = () => world.gateway.posts.filter(ofWorkers).length;
    const worker = world.process({ limits: LIMITS, remainingMs: () => (posts() >= 2 ? 3_000 : 30_000) });
    expect(await worker.failuresOf(records)).toEqual(['message-1', 'message-2']);
    expect(await world.process().failuresOf(records.slice(1))).toEqual([]);
    for (const id of others) expect(world.gateway.textsTo(id)).toEqual(['x', 'y']);
  });

  it('serves slices also where a function has less time than is recommended', async () => {
    const world = await World.create();
    const all = await world.subscribers(13);
    await world.publish(['a']);
    const worker = world.process({ limits: LIMITS, remainingMs: () => 3_000 });
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a']);
  });

  it('sends no post that could be unanswered when its function ends', async () => {
    const world = await World.create();
    const [, slow = ''] = await world.subscribers(3);
    await world.publish(['a']);
    const endMs = world.time.nowMs + 30_000;
    let lastMs = 0;
    world.gateway.answer = ({ connectionId }) => {
      if (connectionId !== slow) return 'sent';
      lastMs = world.time.nowMs;
      return 'throttled';
    };
    expect(await world.process().failuresOf(world.queue.receive())).toEqual(['message-0']);
    expect(lastMs).toBeGreaterThan(endMs - 2 * POST_TIMEOUT_MS);
    expect(lastMs).toBeLessThan(endMs - POST_TIMEOUT_MS);
  });

  it('keeps its pace: no more posts a second than its budget', async () => {
    const world = await World.create();
    await world.subscribers(61);
    await world.publish(['a']);
    const times: number[] = [];
    world.gateway.answer = ({ by }) => {
      if (by !== 'door') times.push(world.time.nowMs);
      return 'sent';
    };
    const worker = world.process({ limits: { postsPerSecond: 20 } });
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    const [first = 0] = times;
    expect(times).toHaveLength(60);
    expect((times.at(-1) ?? 0) - first).toBeGreaterThanOrEqual(2_800);
    // Slices are no longer than two seconds at this pace.
    expect(worker.counts).toMatchObject([{ slices: 2 }]);
  });

  it('takes fewer subscribers at a time when each of them gets many frames', async () => {
    const world = await World.create();
    await world.subscribers(9);
    const large = 'x'.repeat(20_000);
    await world.publish([`${large}1`, `${large}2`, `${large}3`, `${large}4`]);
    const worker = world.process({ limits: { postsPerSecond: 10 } });
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    // Twenty posts in two seconds, four for each: five at a time, and less as base64 is counted generously.
    expect(worker.counts).toMatchObject([{ slices: 2, posts: 32 }]);
  });
});

describe('a job that waited long', () => {
  it('marks its filter: for some seconds a publisher is refused with 0x97, and then no more', async () => {
    const world = await World.create();
    await world.subscribers(3);
    await world.publish(['a']);
    const publisher = await world.connect();
    world.time.nowMs += 10_001;
    const worker = world.process();
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    expect(worker.counts).toMatchObject([{ lagMsMax: 10_001 }]);
    expect(await world.publishFrom(publisher, ['b'])).toMatchObject([{ cmd: 'puback', reasonCode: 0x97 }]);
    expect(world.queue.receive()).toEqual([]);
    expect(await world.publishFrom(publisher, ['x'], { qos: 1 }, 'other')).not.toMatchObject([
      { reasonCode: 0x97 },
    ]);
    world.time.nowMs += 5_000;
    expect(await world.publishFrom(publisher, ['c'])).not.toMatchObject([{ reasonCode: 0x97 }]);
    expect(world.queue.receive()).toHaveLength(1);
  });

  it('does not mark it while it waited less', async () => {
    const world = await World.create();
    await world.subscribers(3);
    await world.publish(['a']);
    world.time.nowMs += 10_000;
    await world.process().work(world.queue.receive());
    await world.publish(['b']);
    expect(world.queue.receive()).toHaveLength(1);
  });

  it('marks it with one write for each few seconds, and is served whether it can be marked or not', async () => {
    const world = await World.create();
    const all = await world.subscribers(3);
    let writes = 0;
    let isAway = false;
    const worker = world.process({
      hooks: {
        before: (call) => {
          if (call !== 'other') return;
          writes += 1;
          if (isAway) throw new Error('the head is away');
        },
      },
    });
    const batch = async (text: string) => {
      await world.publish([text]);
      const records = world.queue.receive().map((record) => late(record, 20_000));
      expect(await worker.failuresOf(records)).toEqual([]);
      world.time.nowMs += 1_000;
    };
    for (const text of ['a', 'b', 'c']) {
      world.time.nowMs += 5_000;
      await batch(text);
    }
    expect(writes).toBe(3);
    isAway = true;
    world.time.nowMs += 5_000;
    await batch('d');
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a', 'b', 'c', 'd']);
  });
});

/** The same record, sent so long before it was received. */
function late(record: SqsRecord, lagMs: number): SqsRecord {
  const { attributes } = record;
  const receivedMs = Number(attributes.ApproximateFirstReceiveTimestamp);
  return { ...record, attributes: { ...attributes, SentTimestamp: String(receivedMs - lagMs) } };
}

describe('the lag of a record', () => {
  const record = (attributes: SqsRecord['attributes']): SqsRecord => ({
    messageId: '',
    receiptHandle: '',
    body: '',
    attributes,
  });
  const first = {
    SentTimestamp: '1000',
    ApproximateFirstReceiveTimestamp: '1500',
    ApproximateReceiveCount: '1',
  };

  it.each([
    ['is measured by the clock of SQS at its first receipt, whatever ours says', first, 99_000, 500],
    [
      'is measured by the worker’s clock when it comes again, less the possible difference of clocks',
      { ...first, ApproximateReceiveCount: '2' },
      20_000,
      14_000,
    ],
    [
      'is never less than it was at its first receipt',
      { ...first, ApproximateReceiveCount: '2' },
      1_600,
      500,
    ],
    ['is never negative', { ...first, ApproximateFirstReceiveTimestamp: '900' }, 0, 0],
    ['is nothing where SQS says nothing', {}, 5_000, 0],
  ])('%s', (_what, attributes, nowMs, lagMs) => {
    expect(lagMsOf(record(attributes), nowMs)).toBe(lagMs);
  });
});
