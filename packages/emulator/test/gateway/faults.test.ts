import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import type { Environment, Faults, Handlers } from '../../src/index.ts';
import { Client, deferred, eventually, managementClient, ok, start } from '../support.ts';

/** Posts what it hears, then replies. */
const poster = (environment: Environment): Partial<Handlers> => {
  const management = managementClient(environment);
  return {
    async default(event) {
      const { connectionId: ConnectionId } = event.requestContext;
      const post = management.send(new PostToConnectionCommand({ ConnectionId, Data: `post ${event.body}` }));
      const result = await post.then(
        () => 'posted',
        (error: Error) => error.name,
      );
      return { ...ok, body: result };
    },
  };
};

async function withFaults(faults: Faults, handlers = poster) {
  const emulator = await start(handlers, { faults });
  return { emulator, client: await Client.open(emulator.url) };
}

test('an invocation is put off by the delay given, or drawn from a range', async () => {
  const { emulator, client } = await withFaults({
    invocationDelayMs: (event) => (event.requestContext.eventType === 'MESSAGE' ? 700 : 0),
  });
  client.send('hello');
  await eventually(() => emulator.clock.pending === 3); // idle, two hours, the delay
  await emulator.clock.advance(699);
  expect(emulator.counters.snapshot().lambda.invocations).toBe(1);
  await emulator.clock.advance(1);
  expect((await client.nextMessages(2)).toSorted()).toEqual(['post hello', 'posted']);
});

test('a reply is put off by a delay drawn from a range', async () => {
  const { emulator, client } = await withFaults({ replyDelayMs: { minMs: 100, maxMs: 200 } });
  client.send('hello');
  expect(await client.next()).toBe('post hello');
  await eventually(() => emulator.clock.pending === 3);
  await emulator.clock.advance(99);
  expect(client.received).toEqual([]);
  await emulator.clock.advance(101);
  expect(await client.next()).toBe('posted');
});

test('a reply is dropped: the handler ran', async () => {
  const { emulator, client } = await withFaults({ dropReply: (event) => event.body === 'lost' });
  client.send('lost');
  expect(await client.next()).toBe('post lost');
  await emulator.quiet();
  client.send('kept');
  expect((await client.nextMessages(2)).toSorted()).toEqual(['post kept', 'posted']);
  expect(emulator.counters.snapshot().events).toEqual({ dropReply: 1 });
});

test.each<[keyof Faults, string[]]>([
  ['killBeforeCall', []],
  ['killAfterCall', ['post fatal']],
])('%s: the invocation never returns, and the client hears of it at the timeout', async (fault, posts) => {
  const { emulator, client } = await withFaults({
    [fault]: (call: { body?: string }) => call.body === 'post fatal',
  });
  client.send('fatal');
  await eventually(() => emulator.counters.snapshot().events[fault] === 1);
  await emulator.clock.advance(4_999);
  expect(emulator.counters.snapshot().messages.errors.count).toBe(0);
  await emulator.clock.advance(1);
  const heard = await client.nextMessages(posts.length + 1);
  expect(heard.slice(0, -1)).toEqual(posts);
  expect(JSON.parse(heard.at(-1) ?? '')).toMatchObject({ message: 'Internal server error' });
  client.send('next');
  expect((await client.nextMessages(2)).toSorted()).toEqual(['post next', 'posted']);
  expect(emulator.counters.snapshot().lambda.coldStarts).toBe(2);
});

test('an environment is killed at a checkpoint', async () => {
  let wrote = 0;
  const { emulator, client } = await withFaults(
    { killAtCheckpoint: ({ name }) => name === 'after put' },
    (environment) => ({
      async default() {
        await environment.checkpoint('before put');
        wrote += 1;
        await environment.checkpoint('after put');
        wrote += 1;
        return ok;
      },
    }),
  );
  client.send('hello');
  await eventually(() => emulator.counters.snapshot().events.killAtCheckpoint === 1);
  await emulator.clock.advance(5_000);
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
  expect(wrote).toBe(1);
});

test('an environment is killed on command: a later result of its handler is ignored', async () => {
  const running = deferred<string>();
  const goOn = deferred();
  const { emulator, client } = await withFaults({}, (environment) => ({
    async default() {
      running.resolve(environment.id);
      await goOn.promise;
      return { ...ok, body: 'from the dead' };
    },
  }));
  client.send('hello');
  expect(emulator.killEnvironment(await running.promise)).toBe(true);
  expect(emulator.killEnvironment('nobody')).toBe(false);
  goOn.resolve();
  await emulator.clock.advance(4_999);
  expect(client.received).toEqual([]);
  await emulator.clock.advance(1);
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
});

test.each<[keyof Faults, string[]]>([
  ['postGone', ['GoneException']],
  ['postThrottled', ['LimitExceededException']],
  ['postFails', ['InternalServerErrorException']],
  ['postFailsAfterwards', ['InternalServerErrorException', 'post hello']],
])('%s', async (fault, heard) => {
  const { client, emulator } = await withFaults({ [fault]: 1 });
  client.send('hello');
  expect((await client.nextMessages(heard.length)).toSorted()).toEqual(heard);
  expect(emulator.counters.snapshot().events).toEqual({ [fault]: 1 });
});

test('a post is overtaken by one that was made after it returned', async () => {
  const emulator = await start({}, { faults: { postOvertaken: (call) => call.body === 'first' } });
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  const management = managementClient(emulator);
  await management.send(new PostToConnectionCommand({ ConnectionId, Data: 'first' }));
  await management.send(new PostToConnectionCommand({ ConnectionId, Data: 'second' }));
  expect(await client.nextMessages(2)).toEqual(['second', 'first']);
});

test('an overtaken post that nothing follows arrives a little later', async () => {
  const emulator = await start({}, { faults: { postOvertaken: 1 } });
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  await managementClient(emulator).send(new PostToConnectionCommand({ ConnectionId, Data: 'late' }));
  await emulator.clock.advance(99);
  expect(client.received).toEqual([]);
  await emulator.clock.advance(1);
  expect(await client.next()).toBe('late');
  await emulator.quiet();
});

test.each(['message', 'reply', 'post'])('a connection is cut at a %s', async (at) => {
  const { client, emulator } = await withFaults({ cut: (point) => point.at === at });
  client.send('hello');
  expect(await client.closed).toMatchObject({ code: 1006 });
  await eventually(() => emulator.connectionIds().length === 0);
});

test('the same seed strikes at the same places', async () => {
  const strikes = async (seed: number) => {
    const emulator = await start({}, { seed, faults: { dropReply: 0.5 } });
    const client = await Client.open(emulator.url);
    const dropped: number[] = [];
    for (let message = 0; message < 20; message++) {
      client.send(String(message));
      await eventually(() => emulator.counters.snapshot().invocations.$default?.count === message + 1);
      await emulator.quiet();
      if (emulator.counters.snapshot().events.dropReply === dropped.length + 1) dropped.push(message);
    }
    return dropped;
  };
  const first = await strikes(11);
  expect(await strikes(11)).toEqual(first);
  expect(await strikes(12)).not.toEqual(first);
});

test('the seed is reported, also when it was drawn', async () => {
  expect((await start({}, { seed: 5 })).seed).toBe(5);
});
