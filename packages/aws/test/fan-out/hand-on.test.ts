import { describe, expect, it } from 'vitest';
import type { SqsRecord } from '../../src/events/sqs.ts';
import type { Attempt } from '../support/fake-gateway.ts';
import { type Process, World } from '../support/fan-out.ts';

/** Twelve subscribers of a shard take 1.2 seconds, two of them a fifth. */
const LIMITS = { postsPerSecond: 10 };

const ofWorkers = ({ by }: Attempt) => by !== 'door';

/** Thirteen clients hold `wide`, of which one stands in the head; three each hold `other` and `third`. */
async function threeShards(topics: readonly string[]) {
  const world = await World.create();
  const all = {
    wide: await world.subscribers(13),
    other: await world.subscribers(3, { qos: 1 }, {}, 'other'),
    third: await world.subscribers(3, { qos: 1 }, {}, 'third'),
  };
  for (const topic of topics) await world.publish([`to ${topic}`], { qos: 1 }, topic);
  return { world, all, records: world.queue.receive() };
}

describe('a batch with several shards', () => {
  it('returns the groups behind a long one to SQS before its first post, each by a call of its own, and lets none be deleted', async () => {
    const { world, records } = await threeShards(['wide', 'other', 'third', 'third']);
    const before: string[][] = [];
    const worker: Process = world.process({ limits: LIMITS });
    world.gateway.answer = () => {
      if (before.length === 0) before.push(...worker.givenBack.map(({ messageIds }) => messageIds));
      return 'sent';
    };
    expect(await worker.failuresOf(records)).toEqual(['message-1', 'message-2', 'message-3']);
    expect(before).toEqual([['message-1'], ['message-2', 'message-3']]);
    expect(worker.givenBack.map(({ afterSeconds }) => afterSeconds)).toEqual([0, 0]);
    expect(world.gateway.posts.filter(ofWorkers)).toHaveLength(12);
    expect(worker.counts).toMatchObject([{ handedBack: 3 }]);
  });

  it('is served by other workers meanwhile: each subscriber gets each message once, in its order', async () => {
    const { world, all, records } = await threeShards(['wide', 'other', 'third', 'third']);
    const of = (...places: number[]) =>
      places.flatMap((place): SqsRecord[] => records.slice(place, place + 1));
    const others: Promise<string[]>[] = [];
    const worker = world.process({ limits: LIMITS });
    world.gateway.answer = ({ by }) => {
      if (by !== 'door' && others.length === 0)
        for (const handedOn of [of(1), of(2, 3)]) others.push(world.process().failuresOf(handedOn));
      return 'sent';
    };
    await worker.work(records);
    expect(await Promise.all(others)).toEqual([[], []]);
    for (const id of all.wide) expect(world.gateway.textsTo(id)).toEqual(['to wide']);
    for (const id of all.other) expect(world.gateway.textsTo(id)).toEqual(['to other']);
    for (const id of all.third) expect(world.gateway.textsTo(id)).toEqual(['to third', 'to third']);
  });

  it('keeps short shards, up to the first long one', async () => {
    const { world, records } = await threeShards(['other', 'wide', 'third']);
    const worker = world.process({ limits: LIMITS });
    expect(await worker.failuresOf(records)).toEqual(['message-2']);
    expect(worker.givenBack).toEqual([{ messageIds: ['message-2'], afterSeconds: 0 }]);
    expect(world.gateway.posts.filter(ofWorkers)).toHaveLength(2 + 12);
  });

  it('keeps all shards where each takes less than a second', async () => {
    const { world, records } = await threeShards(['wide', 'other', 'third']);
    const worker = world.process({ limits: { postsPerSecond: 20 } });
    expect(await worker.failuresOf(records)).toEqual([]);
    expect(worker.givenBack).toEqual([]);
  });
});
