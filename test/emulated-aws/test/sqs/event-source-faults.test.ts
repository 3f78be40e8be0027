import { expect, test } from 'vitest';
import type { Faults } from '../../src/index.ts';
import { startWorker } from './worker.ts';

const EMPTY = { available: 0, delayed: 0, inFlight: 0 };

/** The bodies that the function handled, in order, until the queue is quiet. */
async function handle(faults: Faults, fifo: boolean, bodies: readonly string[]) {
  const handled: string[] = [];
  const { emulator, send, sendTo } = await startWorker(
    { queue: { fifo, visibilityTimeoutSeconds: 10 }, source: { batchSize: 1 }, emulator: { faults } },
    async ({ Records }) => {
      handled.push(...Records.map(({ body }) => body));
    },
  );
  if (fifo) await sendTo('a', ...bodies);
  else for (const body of bodies) await send(body);
  for (let round = 0; round < 10; round += 1) {
    await emulator.quiet();
    await emulator.clock.advance(10_000);
  }
  await emulator.quiet();
  expect(emulator.sqs.depth(fifo ? 'jobs.fifo' : 'jobs')).toEqual(EMPTY);
  return { handled, events: emulator.counters.snapshot().events };
}

test('redeliver: a standard message that was handled comes once more', async () => {
  const { handled, events } = await handle({ redeliver: ({ receiveCount }) => receiveCount === 1 }, false, [
    'a',
  ]);
  expect(handled).toEqual(['a', 'a']);
  expect(events).toMatchObject({ redeliver: 1 });
});

test('redeliver: a FIFO message comes again before the next of its group', async () => {
  const once = ({ body, receiveCount }: { body: string; receiveCount: number }) =>
    body === '1' && receiveCount === 1;
  const { handled, events } = await handle({ redeliver: once }, true, ['1', '2']);
  expect(handled).toEqual(['1', '1', '2']);
  expect(events).toMatchObject({ redeliver: 1, eventSourceDeleteFailed: 1 });
});

test('earlyRedelivery: two environments have the same FIFO message, and the first cannot delete it', async () => {
  let strikes = 1;
  const { batches, emulator, sendTo, quiet } = await startWorker({
    queue: { fifo: true, visibilityTimeoutSeconds: 10 },
    lambda: { timeoutMs: 10_000 },
    emulator: { faults: { earlyRedelivery: () => strikes-- > 0 } },
  });
  await sendTo('a', '1', '2');
  await quiet();
  for (let second = 0; second < 10 && batches.length < 2; second += 1) {
    await emulator.clock.advance(1_000);
    await quiet();
  }
  expect(batches.map(({ bodies }) => bodies)).toEqual([
    ['1', '2'],
    ['1', '2'],
  ]);
  expect(batches[0]?.environment.id).not.toBe(batches[1]?.environment.id);
  batches[0]?.end();
  await quiet();
  expect(emulator.counters.snapshot().events).toMatchObject({ eventSourceDeleteFailed: 2 });
  batches[1]?.end();
  await emulator.quiet();
  expect(emulator.sqs.depth('jobs.fifo')).toEqual(EMPTY);
});

test('eventSourceDelayMs: the function is invoked late, and the visibility timeout runs meanwhile', async () => {
  const { batches, emulator, send, quiet } = await startWorker({
    queue: { visibilityTimeoutSeconds: 10 },
    emulator: { faults: { eventSourceDelayMs: 12_000 } },
  });
  await send('hello');
  await quiet();
  expect(emulator.sqs.depth('jobs')).toEqual({ ...EMPTY, inFlight: 1 });
  await emulator.clock.advance(11_999);
  await quiet();
  expect(batches).toEqual([]);
  await emulator.clock.advance(1);
  await quiet();
  expect(batches).toHaveLength(1);
  await emulator.clock.advance(12_000);
  await quiet();
  expect(batches).toHaveLength(2);
});

test('an environment that dies leaves its batch to another one', async () => {
  let kills = 1;
  const handled: string[] = [];
  const { emulator, send } = await startWorker(
    {
      queue: { visibilityTimeoutSeconds: 10 },
      emulator: { faults: { killAtCheckpoint: () => kills-- > 0 } },
    },
    async ({ Records }, environment) => {
      await environment.checkpoint('in the middle');
      handled.push(...Records.map(({ body }) => body));
    },
  );
  await send('hello');
  for (let step = 0; step < 20; step += 1) await emulator.clock.advance(1_000);
  await emulator.quiet();
  expect(handled).toEqual(['hello']);
  expect(emulator.counters.snapshot().lambda.coldStarts).toBe(2);
});

test('a worker is killed on command and retired like any other function', async () => {
  const { batches, emulator, send, quiet } = await startWorker({ queue: { visibilityTimeoutSeconds: 10 } });
  await send('hello');
  await quiet();
  expect(emulator.killEnvironment(batches[0]?.environment.id ?? '')).toBe(true);
  await emulator.clock.advance(10_000);
  await quiet();
  expect(batches).toHaveLength(2);
  batches[1]?.end();
  await emulator.quiet();
  emulator.retireIdleEnvironments();
  await send('next');
  await quiet();
  expect(batches[2]?.environment.id).not.toBe(batches[1]?.environment.id);
});
