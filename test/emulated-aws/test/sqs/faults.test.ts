import {
  DeleteMessageCommand,
  RequestThrottled,
  SendMessageCommand,
  SQSClient,
  type SQSServiceException,
} from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import type { SqsFaults } from '../../src/index.ts';
import { bodies, nameOf } from './bench.ts';
import { startSqs } from './support.ts';

const withFaults = (faults: SqsFaults) => startSqs({ faults });

test('sendFails: an error of the service, and nothing was sent', async () => {
  const { bench, create, sqs } = withFaults({ sendFails: ({ action }) => action === 'SendMessage' });
  const url = create();
  const error = await bench.send(url, 'hello').catch((thrown: SQSServiceException) => thrown);
  expect(error).toMatchObject({ name: 'InternalFailure', $metadata: { httpStatusCode: 500 } });
  expect(sqs.depth('jobs').available).toBe(0);
  await bench.sendBatch(url, [{ Id: 'a', MessageBody: 'hello' }]);
  expect(sqs.events).toEqual({ sendFails: 1 });
});

test('sendFailsAfterwards: a retry doubles the message, but not on a FIFO queue', async () => {
  let lost = 0;
  const { bench, create, sqs } = withFaults({
    sendFailsAfterwards: () => {
      lost += 1;
      return lost % 2 === 1;
    },
  });
  const standard = create();
  expect(await nameOf(bench.send(standard, 'hello'))).toBe('InternalFailure');
  await bench.send(standard, 'hello');
  expect(sqs.depth('jobs').available).toBe(2);
  const fifo = create({ fifo: true });
  expect(await nameOf(bench.sendTo(fifo, 'a', 'hello'))).toBe('InternalFailure');
  await bench.sendTo(fifo, 'a', 'hello');
  expect(sqs.depth('jobs.fifo').available).toBe(1);
});

test("the SDK's own retries go through it", async () => {
  let calls = 0;
  const { create, sqs } = withFaults({
    sendFailsAfterwards: () => {
      calls += 1;
      return calls === 1;
    },
  });
  const url = create({ fifo: true });
  const client = new SQSClient({ ...sqs.clientConfig(), maxAttempts: 2 });
  const fields = { MessageGroupId: 'a', MessageDeduplicationId: '1' };
  const sent = await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'hello', ...fields }));
  expect(sent.$metadata.attempts).toBe(2);
  expect(sqs.depth('jobs.fifo').available).toBe(1);
});

test('sendEntryFails: the rest of the batch is sent', async () => {
  const { bench, create } = withFaults({ sendEntryFails: ({ body }) => body === 'unlucky' });
  const url = create();
  const { Successful, Failed } = await bench.sendBatch(url, [
    { Id: 'a', MessageBody: 'lucky' },
    { Id: 'b', MessageBody: 'unlucky' },
  ]);
  expect(Successful).toMatchObject([{ Id: 'a' }]);
  expect(Failed).toMatchObject([{ Id: 'b', SenderFault: false, Code: 'InternalFailure' }]);
  expect(bodies(await bench.receiveTen(url))).toEqual(['lucky']);
});

test('sqsThrottled strikes any call', async () => {
  const { bench, create } = withFaults({ sqsThrottled: ({ action }) => action === 'ReceiveMessage' });
  const url = create();
  await bench.send(url, 'hello');
  await expect(bench.receive(url)).rejects.toBeInstanceOf(RequestThrottled);
});

test('redeliver: a deleted message of a standard queue comes again within a minute', async () => {
  let strikes = 1;
  const { bench, create } = withFaults({ redeliver: () => strikes-- > 0 });
  const url = create();
  const sent = await bench.send(url, 'hello');
  await bench.remove(url, await bench.receiveOne(url));
  await bench.passSeconds(60);
  const again = await bench.receiveOne(url);
  expect(again).toMatchObject({ MessageId: sent.MessageId, Attributes: { ApproximateReceiveCount: '2' } });
  await bench.remove(url, again);
  await bench.passSeconds(60);
  expect(await bench.receiveTen(url)).toEqual([]);
});

test('redeliver: after the configured delay', async () => {
  const { bench, create } = withFaults({ redeliver: 1, redeliverDelayMs: 7_000 });
  const url = create();
  await bench.send(url, 'hello');
  await bench.remove(url, await bench.receiveOne(url));
  await bench.passSeconds(6);
  expect(await bench.receiveTen(url)).toEqual([]);
  await bench.passSeconds(1);
  expect(await bench.receiveTen(url)).toHaveLength(1);
});

test('redeliver: on a FIFO queue the delete fails, and the group waits for the visibility timeout', async () => {
  const { bench, create } = withFaults({ redeliver: ({ receiveCount }) => receiveCount === 1 });
  const url = create({ fifo: true, visibilityTimeoutSeconds: 10 });
  await bench.sendTo(url, 'a', '1');
  await bench.sendTo(url, 'a', '2');
  const [first] = await bench.receive(url);
  expect(await nameOf(bench.remove(url, first ?? {}))).toBe('InternalFailure');
  await bench.passSeconds(9);
  expect(await bench.receiveTen(url)).toEqual([]);
  await bench.passSeconds(1);
  expect(bodies(await bench.receiveTen(url))).toEqual(['1', '2']);
});

test('earlyRedelivery: a second consumer has the message before the first one is done', async () => {
  const { bench, clock, create, sqs } = withFaults({ earlyRedelivery: 1 });
  const url = create({ fifo: true, visibilityTimeoutSeconds: 100 });
  for (const body of ['1', '2', '3', '4', '5', '6']) await bench.sendTo(url, 'a', body);
  let atOnce = 0;
  for (let round = 0; round < 8; round += 1) {
    const first = await bench.receiveTen(url);
    const receivedAtMs = clock.now();
    expect(bodies(first)).toEqual(['1', '2', '3', '4', '5', '6']);
    await sqs.quiet();
    if (sqs.depth('jobs.fifo').available > 0) atOnce += 1;
    while (sqs.depth('jobs.fifo').available === 0) await bench.passSeconds(1);
    expect(clock.now() - receivedAtMs).toBeLessThan(100_000);
    const { ReceiptHandle } = first[0] ?? {};
    const late = bench.client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    expect(await nameOf(late)).toBe('InvalidParameterValue');
  }
  expect(atOnce).toBeGreaterThan(0);
  expect(atOnce).toBeLessThan(8);
});

test('receiveFewer and receiveNothing: the messages do not all come at once', async () => {
  const { bench, create } = withFaults({ receiveFewer: 1, receiveNothing: 0.5 });
  const url = create();
  for (let body = 0; body < 20; body += 1) await bench.send(url, String(body));
  const counts: number[] = [];
  let received = 0;
  while (received < 20) {
    const { length } = await bench.receiveTen(url);
    counts.push(length);
    received += length;
  }
  expect(counts).toContain(0);
  expect(Math.min(...counts.filter((count) => count > 0))).toBeLessThan(10);
});

test('sqsLatencyMs: the answer comes late, the effect somewhere in between', async () => {
  const { bench, clock, create, sqs } = withFaults({ sqsLatencyMs: 100 });
  const url = create();
  let answered = false;
  const sent = bench.send(url, 'hello').then(() => {
    answered = true;
  });
  // Before the effect, and after it.
  while (sqs.depth('jobs').available === 0) await clock.advance(1);
  expect(answered).toBe(false);
  await clock.advance(100);
  await sent;
  expect(clock.now() - Date.UTC(2026, 0, 1)).toBeGreaterThanOrEqual(100);
});

test('the same seed strikes at the same places', async () => {
  const strikes = async (seed: number) => {
    const { bench, create } = startSqs({ seed, faults: { sendFails: 0.5 } });
    const url = create();
    const names: string[] = [];
    for (let call = 0; call < 20; call += 1) names.push(await nameOf(bench.send(url, 'hello')));
    return names;
  };
  const first = await strikes(11);
  expect(await strikes(11)).toEqual(first);
  expect(await strikes(12)).not.toEqual(first);
});
