import { describe, expect, test } from 'vitest';
import { startWorker } from './worker.ts';

const digits = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

describe('a FIFO queue', () => {
  test('runs one batch of a group at a time, and other groups beside it', async () => {
    const { batches, sendTo, quiet } = await startWorker({ queue: { fifo: true } });
    await sendTo('a', 'a1', 'a2');
    await quiet();
    await sendTo('a', 'a3');
    await sendTo('b', 'b1');
    await quiet();
    expect(batches.map(({ bodies }) => bodies)).toEqual([['a1', 'a2'], ['b1']]);
    expect(batches[0]?.environment.id).not.toBe(batches[1]?.environment.id);
    batches[0]?.end();
    await quiet();
    expect(batches[2]?.bodies).toEqual(['a3']);
  });

  test('puts several groups into one batch, each in its order', async () => {
    const { batches, sendTo, quiet } = await startWorker({ queue: { fifo: true } });
    await Promise.all([sendTo('a', 'a1', 'a2'), sendTo('b', 'b1', 'b2')]);
    await quiet();
    const all = batches.flatMap(({ bodies }) => bodies);
    expect(batches.length).toBeLessThan(3);
    expect(all.filter((body) => body.startsWith('a'))).toEqual(['a1', 'a2']);
    expect(all.filter((body) => body.startsWith('b'))).toEqual(['b1', 'b2']);
  });

  test('runs as many batches as there are groups, up to the maximum', async () => {
    const { batches, sendTo, quiet } = await startWorker({
      queue: { fifo: true },
      source: { batchSize: 1, maximumConcurrency: 3 },
    });
    for (const body of digits(5)) await sendTo(body, body);
    await quiet();
    expect(batches).toHaveLength(3);
    batches[0]?.end();
    await quiet();
    expect(batches).toHaveLength(4);
  });

  test('keeps the order of each group through any seed', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const handled: string[] = [];
      const { emulator, sendTo } = await startWorker(
        { queue: { fifo: true }, emulator: { seed, faults: { receiveFewer: 0.7 } } },
        async ({ Records }) => {
          for (const { body } of Records) {
            handled.push(body);
            await new Promise(setImmediate);
          }
        },
      );
      for (const turn of ['1', '2', '3']) {
        for (const group of ['a', 'b', 'c'])
          await sendTo(group, ...digits(4).map((d) => `${group}${turn}${d}`));
      }
      await emulator.quiet();
      expect(handled).toHaveLength(36);
      for (const group of ['a', 'b', 'c']) {
        const own = handled.filter((body) => body.startsWith(group));
        expect(own).toEqual(own.toSorted());
      }
    }
  });
});

describe('a standard queue', () => {
  const MANY = {
    source: { batchSize: 1 },
    queue: { visibilityTimeoutSeconds: 900 },
    lambda: { timeoutMs: 900_000 },
  };

  test('begins with five batches and runs 300 more after each minute of backlog', async () => {
    const { batches, emulator, send, quiet } = await startWorker(MANY);
    await Promise.all(digits(400).map((body) => send(body)));
    await quiet();
    expect(batches).toHaveLength(5);
    await emulator.clock.advance(59_999);
    expect(batches).toHaveLength(5);
    await emulator.clock.advance(1);
    await quiet();
    expect(batches).toHaveLength(305);
    await emulator.clock.advance(60_000);
    await quiet();
    expect(batches).toHaveLength(400);
  });

  test('begins with five again when it was idle', async () => {
    const { batches, emulator, send, quiet } = await startWorker(MANY);
    await Promise.all(digits(10).map((body) => send(body)));
    await emulator.clock.advance(60_000);
    await quiet();
    expect(batches).toHaveLength(10);
    for (const batch of batches.splice(0)) batch.end();
    await emulator.quiet();
    await Promise.all(digits(10).map((body) => send(body)));
    await quiet();
    expect(batches).toHaveLength(5);
  });

  test('has no order, and the seed decides', async () => {
    const order = async (seed: number) => {
      const handled: string[] = [];
      const { emulator, send } = await startWorker({ emulator: { seed } }, async ({ Records }) => {
        handled.push(...Records.map(({ body }) => body));
      });
      await Promise.all(digits(30).map((body) => send(body)));
      await emulator.quiet();
      return handled;
    };
    const first = await order(3);
    expect(first.toSorted()).toEqual(digits(30).toSorted());
    expect(first).not.toEqual(digits(30));
    expect(await order(3)).toEqual(first);
  });

  test('gathers a batch for a while, unless it is full before', async () => {
    const { batches, emulator, send, quiet } = await startWorker({
      source: { batchSize: 20, batchWindowSeconds: 10 },
    });
    await send('first');
    await emulator.clock.advance(9_999);
    await send('second');
    expect(batches).toEqual([]);
    await emulator.clock.advance(1);
    await quiet();
    expect(batches.map(({ bodies }) => bodies.toSorted())).toEqual([['first', 'second']]);
    await Promise.all(digits(20).map((body) => send(body)));
    await quiet();
    expect(batches[1]?.bodies).toHaveLength(20);
    await send('third');
    await emulator.clock.advance(9_999);
    expect(batches).toHaveLength(2);
    await emulator.clock.advance(1);
    await quiet();
    expect(batches[2]?.bodies).toEqual(['third']);
  });

  test('opens a new window after a batch that was full before its own was over', async () => {
    const { batches, emulator, send, quiet } = await startWorker({
      source: { batchSize: 20, batchWindowSeconds: 10 },
    });
    await send('first');
    await emulator.clock.advance(5_000);
    await Promise.all(digits(19).map((body) => send(body)));
    await quiet();
    expect(batches[0]?.bodies).toHaveLength(20);
    await send('later');
    await emulator.clock.advance(9_999);
    await quiet();
    expect(batches).toHaveLength(1);
    await emulator.clock.advance(1);
    await quiet();
    expect(batches[1]?.bodies).toEqual(['later']);
  });

  test('waits where the account has no concurrency left: the messages come again', async () => {
    const { batches, emulator, send, quiet } = await startWorker({
      source: { batchSize: 1 },
      emulator: { limits: { concurrentExecutionsMax: 1 } },
    });
    await Promise.all([send('a'), send('b')]);
    await quiet();
    expect(batches).toHaveLength(1);
    expect(emulator.counters.snapshot().events.lambdaThrottled).toBe(1);
    batches[0]?.end();
    await emulator.clock.advance(30_000);
    await quiet();
    expect(batches.flatMap(({ bodies }) => bodies).toSorted()).toEqual(['a', 'b']);
  });
});
