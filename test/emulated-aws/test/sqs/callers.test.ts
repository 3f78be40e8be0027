import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import type { Environment, Faults, Handlers } from '../../src/index.ts';
import { Client, deferred, eventually, ok, start } from '../support.ts';
import { sqsClient } from './support.ts';

const send = (client: SQSClient, QueueUrl: string, MessageBody: string) =>
  client.send(new SendMessageCommand({ QueueUrl, MessageBody }));

/** A gateway whose messages are sent on to a queue. */
async function withSender(
  faults: Faults,
  handlers: (environment: Environment, client: SQSClient, url: string) => Partial<Handlers>,
) {
  const emulator = await start(
    (environment) =>
      handlers(environment, sqsClient(emulator.sqs, environment), emulator.sqs.queueUrl('jobs')),
    { faults, queues: [{ name: 'jobs' }] },
  );
  return { emulator, client: await Client.open(emulator.url) };
}

const sender = (_environment: Environment, queue: SQSClient, url: string): Partial<Handlers> => ({
  async default(event) {
    await send(queue, url, event.body);
    return { ...ok, body: 'sent' };
  },
});

test('a function sends to a queue', async () => {
  const { client, emulator } = await withSender({}, sender);
  client.send('hello');
  expect(await client.next()).toBe('sent');
  expect(emulator.sqs.depth('jobs').available).toBe(1);
});

test.each([
  ['before', 0],
  ['after', 1],
])('an environment is killed %s its call', async (when, available) => {
  const { client, emulator } = await withSender(
    { killAtCheckpoint: ({ name }) => name === `sqs:SendMessage:${when}` },
    sender,
  );
  client.send('hello');
  await eventually(() => emulator.counters.snapshot().events.killAtCheckpoint === 1);
  await emulator.clock.advance(5_000);
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  expect(emulator.sqs.depth('jobs').available).toBe(available);
});

test('a call that is not awaited is held until the next invocation', async () => {
  const { client, emulator } = await withSender({}, (_environment, queue, url) => ({
    async default(event) {
      if (event.body === 'forget') setImmediate(() => void send(queue, url, event.body));
      return { ...ok, body: event.body };
    },
  }));
  client.send('forget');
  await client.next();
  await eventually(() => emulator.counters.snapshot().events.requestsWhileFrozen === 1);
  await emulator.quiet();
  expect(emulator.sqs.depth('jobs').available).toBe(0);
  client.send('thaw');
  await client.next();
  await eventually(() => emulator.sqs.depth('jobs').available === 1);
});

test('a dead environment sends nothing any more', async () => {
  const goOn = deferred();
  const { client, emulator } = await withSender({}, (_environment, queue, url) => ({
    async default(event) {
      if (event.body !== 'late') return ok;
      await goOn.promise;
      await send(queue, url, event.body);
      return ok;
    },
  }));
  client.send('late');
  await eventually(() => emulator.counters.snapshot().lambda.invocations === 1 && emulator.clock.pending > 2);
  await emulator.clock.advance(5_000);
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  goOn.resolve();
  await eventually(() => emulator.counters.snapshot().events.requestsOfDeadEnvironments === 1);
  await emulator.quiet();
  expect(emulator.sqs.depth('jobs').available).toBe(0);
});

test('clocks of environments differ by up to the configured time', async () => {
  const skews: number[] = [];
  const { client, emulator } = await withSender({ clockSkewMs: 3_000 }, (environment) => ({
    async default() {
      skews.push(environment.clock.now() - emulator.clock.now());
      return { ...ok, body: 'done' };
    },
  }));
  for (let round = 0; round < 20; round += 1) {
    client.send('hello');
    await client.next();
    await emulator.quiet();
    emulator.retireIdleEnvironments();
  }
  expect(new Set(skews).size).toBe(20);
  expect(Math.max(...skews)).toBeLessThanOrEqual(3_000);
  expect(Math.max(...skews)).toBeGreaterThan(1_000);
  expect(Math.min(...skews)).toBeLessThan(-1_000);
  expect(Math.min(...skews)).toBeGreaterThanOrEqual(-3_000);
});

test('a clock that is wrong stays wrong by the same, and its timers run as fast as others', async () => {
  const seen: number[] = [];
  const { client, emulator } = await withSender({ clockSkewMs: () => 1_500 }, (environment) => ({
    async default() {
      seen.push(environment.clock.now() - emulator.clock.now());
      await new Promise<void>((resolve) => environment.clock.setTimer(1_000, resolve));
      return { ...ok, body: 'done' };
    },
  }));
  for (let round = 0; round < 2; round += 1) {
    client.send('hello');
    await eventually(() => seen.length === round + 1);
    await emulator.clock.advance(1_000);
    expect(await client.next()).toBe('done');
  }
  expect(seen).toEqual([1_500, 1_500]);
});
