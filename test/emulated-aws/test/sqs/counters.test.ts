import { expect, test } from 'vitest';
import { startSqs } from './support.ts';
import { startWorker } from './worker.ts';

const tally = (count: number, fields: object = {}) => ({
  count,
  billed: count,
  bytes: 0,
  empty: 0,
  ...fields,
});

test('requests are billed by kind of queue, action and 64 KB begun', async () => {
  const { bench, create, sqs } = startSqs();
  const url = create();
  const KB = 1_024;
  await bench.send(url, 'x'.repeat(64 * KB));
  await bench.send(url, 'x'.repeat(64 * KB + 1));
  const half = 'x'.repeat(40 * KB);
  await bench.sendBatch(url, [
    { Id: 'a', MessageBody: half },
    { Id: 'b', MessageBody: half },
  ]);
  const bytes = 128 * KB + 1;
  const requests = {
    SendMessage: tally(2, { billed: 3, bytes }),
    SendMessageBatch: tally(1, { billed: 2, bytes: 80 * KB }),
  };
  expect(sqs.counters.snapshot().requests.standard).toEqual(requests);
  const messages = await bench.receiveTen(url);
  await bench.receiveTen(url);
  await bench.remove(url, messages[0] ?? {});
  expect(sqs.counters.snapshot()).toEqual({
    requests: {
      standard: {
        ...requests,
        ReceiveMessage: tally(2, { billed: 5, bytes: bytes + 80 * KB, empty: 1 }),
        DeleteMessage: tally(1),
      },
      fifo: {},
    },
    idlePolls: { standard: 0, fifo: 0 },
    billed: { standard: 11, fifo: 0 },
  });
});

test('a request that was refused is billed too', async () => {
  const { bench, create, sqs } = startSqs();
  await bench.send(create(), '').catch(() => {});
  expect(sqs.counters.snapshot().requests.standard).toEqual({ SendMessage: tally(1) });
});

test('a mapping receives and deletes by ten, and its function is billed', async () => {
  const { emulator, sendTo } = await startWorker(
    { queue: { fifo: true }, lambda: { memoryMegabytes: 1_024, functionName: 'worker' } },
    async (_event, environment) => {
      await new Promise<void>((resolve) => environment.clock.setTimer(500, resolve));
    },
  );
  await sendTo('a', 'a', 'b', 'c');
  await emulator.clock.advance(0);
  await emulator.clock.advance(0);
  await emulator.clock.advance(1_000);
  await emulator.quiet();
  const { invocations, lambda, sqs } = emulator.counters.snapshot();
  expect(sqs.requests.fifo).toEqual({
    SendMessageBatch: tally(1, { bytes: 3 }),
    ReceiveMessage: tally(1, { bytes: 3 }),
    DeleteMessageBatch: tally(1),
  });
  expect(invocations.worker).toMatchObject({ count: 1, billedMilliseconds: 500 });
  expect(lambda.gigabyteSeconds).toBeCloseTo(0.5);
});

test('an idle mapping polls with five pollers, twenty seconds each: 0.65 M times in 30 days', async () => {
  const { emulator } = await startWorker();
  await emulator.clock.advance(30 * 24 * 60 * 60 * 1_000);
  expect(emulator.counters.snapshot().sqs.idlePolls).toEqual({ standard: 648_000, fifo: 0 });
  emulator.counters.reset();
  expect(emulator.counters.snapshot().sqs.billed).toEqual({ standard: 0, fifo: 0 });
  await emulator.clock.advance(60_000);
  expect(emulator.counters.snapshot().sqs.billed).toEqual({ standard: 15, fifo: 0 });
});
