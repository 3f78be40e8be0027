import { describe, expect, it } from 'vitest';
import { type Job, ShardQueue } from '../src/shard-queue.ts';

const job = (atMs: number): Job => ({ recipients: 1, publishedAtMs: [atMs] });
const shown = (batch: ReturnType<ShardQueue['take']>) =>
  batch.map(({ shard, jobs }) => [shard, jobs.map(({ publishedAtMs }) => publishedAtMs[0])]);

describe('a queue of shards', () => {
  it('gives as many jobs of the first shard as there are, and then of the next', () => {
    const queue = new ShardQueue(3);
    for (const [shard, atMs] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      queue.put(shard, job(atMs));
    expect(shown(queue.take())).toEqual([
      ['a', [1, 3]],
      ['b', [2]],
    ]);
    expect(shown(queue.take())).toEqual([['c', [4]]]);
    expect(queue.hasReady).toBe(false);
  });

  it('gives no worker a shard that another has', () => {
    const queue = new ShardQueue(10);
    queue.put('a', job(1));
    const [taken] = queue.take();
    queue.put('a', job(2));
    expect(queue.hasReady).toBe(false);
    if (taken === undefined) throw new Error('nothing was taken');
    queue.giveBack({ ...taken, jobs: [] });
    expect(shown(queue.take())).toEqual([['a', [2]]]);
  });

  it('puts unfinished jobs before those that came after them', () => {
    const queue = new ShardQueue(1);
    queue.put('a', job(1));
    queue.put('a', job(2));
    const [taken] = queue.take();
    queue.put('a', job(3));
    if (taken !== undefined) queue.giveBack(taken);
    const order = [1, 2, 3].map(() => {
      const batch = queue.take();
      for (const { shard } of batch) queue.giveBack({ shard, jobs: [] });
      return shown(batch);
    });
    expect(order).toEqual([[['a', [1]]], [['a', [2]]], [['a', [3]]]]);
    expect(queue.hasReady).toBe(false);
  });
});
