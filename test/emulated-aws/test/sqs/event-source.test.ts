import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import type { SqsEvent } from '../../src/index.ts';
import { sqsClient } from './support.ts';
import { startWorker } from './worker.ts';

const EMPTY = { available: 0, delayed: 0, inFlight: 0 };

test('a function gets a batch in the shape of AWS, and the handled messages are deleted', async () => {
  const { batches, emulator, send, quiet } = await startWorker();
  await send('hello', { MessageAttributes: { city: { DataType: 'String', StringValue: 'Any City' } } });
  await quiet();
  const { event } = batches[0] ?? {};
  expect(event).toEqual({
    Records: [
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: 'hello',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: '1767225600000',
          SenderId: expect.stringContaining(':'),
          ApproximateFirstReceiveTimestamp: '1767225600000',
        },
        messageAttributes: {
          city: {
            stringValue: 'Any City',
            stringListValues: [],
            binaryListValues: [],
            dataType: 'String',
          },
        },
        md5OfBody: '5d41402abc4b2a76b9719d911017c592',
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:123456789012:jobs',
        awsRegion: 'us-east-1',
      },
    ],
  });
  expect(emulator.sqs.depth('jobs')).toEqual({ ...EMPTY, inFlight: 1 });
  batches[0]?.end();
  await emulator.quiet();
  expect(emulator.sqs.depth('jobs')).toEqual(EMPTY);
});

test('a FIFO queue adds group, deduplication id and sequence number', async () => {
  const { batches, sendTo, quiet } = await startWorker({ queue: { fifo: true } });
  await sendTo('a', 'hello');
  await quiet();
  expect(batches[0]?.event.Records[0]?.attributes).toMatchObject({
    MessageGroupId: 'a',
    MessageDeduplicationId: 'hello',
    SequenceNumber: '00000000000000000001',
  });
});

test('the function gets its own context, and reads the clock of its environment', async () => {
  const contexts: unknown[] = [];
  const { emulator, send } = await startWorker(
    { lambda: { functionName: 'worker', memoryMegabytes: 1_024, timeoutMs: 9_000 } },
    async (_event, environment) => {
      contexts.push({
        name: environment.variables.AWS_LAMBDA_FUNCTION_NAME,
        memory: environment.variables.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
      });
    },
  );
  await send('hello');
  await emulator.quiet();
  expect(contexts).toEqual([{ name: 'worker', memory: '1024' }]);
});

test('a batch that failed comes again as a whole when its visibility timeout is over', async () => {
  const errors: string[] = [];
  const { batches, emulator, send, quiet } = await startWorker({
    queue: { visibilityTimeoutSeconds: 30 },
    emulator: { onInvocationError: (error) => errors.push(error.message) },
  });
  await Promise.all(['a', 'b'].map((body) => send(body)));
  await quiet();
  for (const batch of batches.splice(0)) batch.fail(new Error('no luck'));
  await emulator.quiet();
  await emulator.clock.advance(29_999);
  expect(batches).toEqual([]);
  await emulator.clock.advance(1);
  await quiet();
  const again = batches.flatMap(({ event }) => event.Records);
  expect(again.map(({ body }) => body).toSorted()).toEqual(['a', 'b']);
  expect(again.map(({ attributes }) => attributes.ApproximateReceiveCount)).toEqual(['2', '2']);
  expect(new Set(errors)).toEqual(new Set(['no luck']));
});

test('a batch whose function times out comes again, in another environment', async () => {
  const { batches, emulator, send, quiet } = await startWorker({
    queue: { visibilityTimeoutSeconds: 30 },
    lambda: { timeoutMs: 5_000 },
  });
  await send('hello');
  await quiet();
  await emulator.clock.advance(5_000);
  expect(batches[0]?.environment.signal.aborted).toBe(true);
  batches[0]?.end();
  await emulator.clock.advance(25_000);
  await quiet();
  expect(batches).toHaveLength(2);
  expect(batches[1]?.environment.id).not.toBe(batches[0]?.environment.id);
  expect(emulator.counters.snapshot().invocations['apus-jobs']).toMatchObject({ timeouts: 1 });
});

test('a message that is delayed is handed over when its time has come, without a poll', async () => {
  const { batches, emulator, send, quiet } = await startWorker();
  await send('later', { DelaySeconds: 900 });
  await emulator.quiet();
  await emulator.clock.advance(899_999);
  expect(batches).toEqual([]);
  await emulator.clock.advance(1);
  await quiet();
  expect(batches).toMatchObject([{ bodies: ['later'] }]);
});

test('a function gives messages back early through the API, by the handles of its event', async () => {
  const { batches, emulator, send, quiet, url } = await startWorker({
    queue: { visibilityTimeoutSeconds: 900 },
    source: { reportBatchItemFailures: true },
  });
  await send('again');
  await quiet();
  const [first] = batches;
  const { environment, event } = first ?? {};
  const [record] = event?.Records ?? [];
  await sqsClient(emulator.sqs, environment).send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: url,
      ReceiptHandle: record?.receiptHandle,
      VisibilityTimeout: 0,
    }),
  );
  first?.end({ batchItemFailures: [{ itemIdentifier: record?.messageId }] });
  await quiet();
  expect(batches.map(({ bodies }) => bodies)).toEqual([['again'], ['again']]);
});

test('poison goes to the dead-letter queue after its receives, and the group goes on', async () => {
  const redrive = { deadLetterQueue: 'dead.fifo', maxReceiveCount: 2 };
  const handled: string[] = [];
  const { emulator, sendTo } = await startWorker(
    {
      queue: { fifo: true, visibilityTimeoutSeconds: 10, redrive },
      source: { batchSize: 1 },
      emulator: { queues: [{ name: 'dead.fifo', fifo: true }] },
    },
    async ({ Records }) => {
      const body = Records[0]?.body ?? '';
      handled.push(body);
      if (body === 'poison') throw new Error('cannot');
    },
  );
  await sendTo('a', 'poison', 'next');
  for (const _visibilityTimeout of [1, 2]) {
    await emulator.quiet();
    await emulator.clock.advance(10_000);
  }
  await emulator.quiet();
  expect(handled).toEqual(['poison', 'poison', 'next']);
  expect(emulator.sqs.depth('dead.fifo')).toEqual({ ...EMPTY, available: 1 });
});

test('a batch holds at most six megabytes', async () => {
  const { batches, send, quiet } = await startWorker();
  await Promise.all(Array.from({ length: 8 }, () => send('x'.repeat(1_048_576))));
  await quiet();
  const sizes = batches.map(({ bodies }) => bodies.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(8);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(6);
});

test('an event is a copy: nothing is shared with the queue', async () => {
  const seen: string[] = [];
  const { emulator, send } = await startWorker(
    { queue: { visibilityTimeoutSeconds: 5 } },
    async ({ Records }: SqsEvent) => {
      const [record] = Records;
      seen.push(record?.body ?? '');
      Object.assign(record ?? {}, { body: 'changed', messageId: 'changed' });
      if (seen.length === 1) throw new Error('once more');
    },
  );
  await send('hello');
  await emulator.quiet();
  await emulator.clock.advance(5_000);
  await emulator.quiet();
  expect(seen).toEqual(['hello', 'hello']);
  expect(emulator.sqs.depth('jobs')).toEqual(EMPTY);
});
