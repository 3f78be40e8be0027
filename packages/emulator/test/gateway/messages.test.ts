import { expect, test } from 'vitest';
import type { MessageEvent } from '../../src/index.ts';
import { Client, deferred, eventually, ok, start } from '../support.ts';

const errorFrame = (message: string, event: MessageEvent | undefined) =>
  `{"message": "${message}", "connectionId":"${event?.requestContext.connectionId}", "requestId":"${event?.requestContext.requestId}"}`;

test('the body of the result is sent to the caller', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  client.send('héllo');
  expect(await client.next()).toBe('héllo');
});

test('no reply without a route response', async () => {
  const emulator = await start({}, { routes: { $default: { routeResponse: false } } });
  const client = await Client.open(emulator.url);
  client.send('hello');
  client.send('again');
  await eventually(() => emulator.counters.snapshot().invocations.$default?.count === 2);
  await emulator.quiet();
  expect(emulator.counters.snapshot().messages.replies.count).toBe(0);
});

test.each([undefined, ''])(
  'an empty body (%j) sends no frame, and one when the option says so',
  async (body) => {
    const handlers = {
      default: async (event: MessageEvent) =>
        event.body === 'end' ? { ...ok, body: 'end' } : { ...ok, ...(body !== undefined && { body }) },
    };
    const silent = await start(handlers);
    const client = await Client.open(silent.url);
    client.send('empty');
    await eventually(() => silent.counters.snapshot().invocations.$default?.count === 1);
    await silent.quiet();
    client.send('end');
    expect(await client.next()).toBe('end');

    const speaking = await start(handlers, { emptyReplySendsFrame: true });
    const other = await Client.open(speaking.url);
    other.send('empty');
    expect(await other.next()).toBe('');
  },
);

test('messages of one connection are handled at the same time, and finish in any order', async () => {
  const release = new Map<string, () => void>();
  const allRun = deferred();
  const emulator = await start({
    async default(event) {
      await new Promise<void>((resolve) => {
        release.set(event.body, resolve);
        if (release.size === 3) allRun.resolve();
      });
      return { ...ok, body: event.body };
    },
  });
  const client = await Client.open(emulator.url);
  for (const body of ['1', '2', '3']) client.send(body);
  await allRun.promise;
  const replies: string[] = [];
  for (const body of ['3', '1', '2']) {
    release.get(body)?.();
    replies.push(await client.next());
  }
  expect(replies).toEqual(['3', '1', '2']);
});

test('a client that sends many at once waits for its turn: in each, one message of each connection begins', async () => {
  const begun: string[] = [];
  const emulator = await start({
    async default({ body }) {
      begun.push(body);
      return { ...ok, body };
    },
  });
  const [flood, other] = [await Client.open(emulator.url), await Client.open(emulator.url)];
  const frames = 500;
  flood.sendTogether(Array.from({ length: frames }, () => 'flood'));
  other.send('other');
  expect(await other.next()).toBe('other');
  // Its frame may come a few turns behind those of the flood.
  expect(begun.indexOf('other')).toBeLessThan(frames / 10);
  await eventually(() => begun.length === frames + 1);
});

test('messages start out of order', async () => {
  const sent = Array.from({ length: 20 }, (_, index) => String(index));
  const started: string[] = [];
  const emulator = await start({
    async default(event) {
      started.push(event.body);
      return ok;
    },
  });
  const client = await Client.open(emulator.url);
  for (const body of sent) client.send(body);
  await eventually(() => started.length === sent.length);
  expect(started).not.toEqual(sent);
  expect(started.toSorted()).toEqual(sent.toSorted());
});

test('without the shuffle, messages start and replies leave in order', async () => {
  const emulator = await start({}, { faults: { shuffle: 0 } });
  const client = await Client.open(emulator.url);
  const sent = Array.from({ length: 20 }, (_, index) => String(index));
  for (const body of sent) client.send(body);
  expect(await client.nextMessages(20)).toEqual(sent);
});

test('a message that is not JSON, or selects no existing route, goes to $default', async () => {
  const emulator = await start({
    default: async (event) => ({ ...ok, body: `${event.requestContext.routeKey} ${event.body}` }),
  });
  const client = await Client.open(emulator.url);
  for (const body of [
    'no JSON',
    '12',
    'null',
    '[]',
    '{"action":"missing"}',
    '{"action":1}',
    '{"action":"$disconnect"}',
    '{"action":"toString"}',
  ]) {
    client.send(body);
    expect(await client.next()).toBe(`$default ${body}`);
  }
});

test('JSON selects another route by $request.body.action when there is one', async () => {
  const emulator = await start(
    { routes: { join: async (event) => ({ ...ok, body: event.requestContext.routeKey }) } },
    { routes: { $default: { routeResponse: true }, join: { routeResponse: true } } },
  );
  const client = await Client.open(emulator.url);
  client.send('{"action":"join"}');
  expect(await client.next()).toBe('join');
});

test('a one-way route with a MOCK integration invokes nothing, answers nothing, and is billed', async () => {
  const invoked: string[] = [];
  const emulator = await start(
    {
      default: async (event) => {
        invoked.push(event.body);
        return { ...ok, body: event.body };
      },
    },
    { routes: { $default: { routeResponse: true }, alive: { routeResponse: false, mock: true } } },
  );
  const client = await Client.open(emulator.url);
  client.send('{"action":"alive"}');
  client.send('next');
  expect(await client.next()).toBe('next');
  expect(invoked).toEqual(['next']);
  const { messages } = emulator.counters.snapshot();
  expect([messages.in.count, messages.replies.count]).toEqual([2, 1]);
});

test('a MOCK integration that fails is reported to the client, as any that fails', async () => {
  const emulator = await start(
    {},
    {
      routes: { $default: { routeResponse: true }, alive: { routeResponse: false, mock: true } },
      faults: { mockFails: ({ routeKey }) => routeKey === 'alive' },
    },
  );
  const client = await Client.open(emulator.url);
  client.send('{"action":"alive"}');
  expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
});

test('a message to a MOCK integration keeps an idle connection open', async () => {
  const emulator = await start(
    {},
    { routes: { $default: { routeResponse: true }, alive: { routeResponse: false, mock: true } } },
  );
  const client = await Client.open(emulator.url);
  let isClosed = false;
  void client.closed.then(() => {
    isClosed = true;
  });
  for (let minute = 9; minute <= 36; minute += 9) {
    await emulator.clock.advance(540_000);
    client.send('{"action":"alive"}');
    await expect.poll(() => emulator.counters.snapshot().messages.in.count).toBe(minute / 9);
  }
  expect(isClosed).toBe(false);
  await emulator.clock.advance(600_000);
  expect(await client.closed).toMatchObject({ code: 1001 });
});

test.each([
  ['a route response', { alive: { routeResponse: true, mock: true } }, 'without a route response'],
  ['no function for what selects no route', { $default: { routeResponse: false, mock: true } }, 'a function'],
])('a MOCK integration with %s is refused at the start', async (_what, routes, why) => {
  await expect(start({}, { routes })).rejects.toThrow(why);
});

test('the route selection expression may name a nested property', async () => {
  const emulator = await start(
    { routes: { join: async () => ({ ...ok, body: 'joined' }) } },
    {
      routeSelectionExpression: '$request.body.to.do',
      routes: { $default: { routeResponse: true }, join: { routeResponse: true } },
    },
  );
  const client = await Client.open(emulator.url);
  client.send('{"to":{"do":"join"}}');
  expect(await client.next()).toBe('joined');
});

test('an invalid route selection expression is refused at the start', async () => {
  await expect(start({}, { routeSelectionExpression: 'action' })).rejects.toThrow(
    'expected "$request.body.name"',
  );
});

test.each<[string, () => Promise<unknown>]>([
  ['throws', () => Promise.reject(new Error('broken'))],
  ['returns nothing', async () => undefined],
  ['returns no statusCode', async () => ({ body: 'hello' })],
  ['returns a body that is no text', async () => ({ statusCode: 200, body: { a: 1 } })],
  ['returns base64', async () => ({ statusCode: 200, body: 'aGk=', isBase64Encoded: true })],
  ['returns what is not JSON', async () => ({ statusCode: 200, body: 1n })],
  ['replies with more than 128 KB', async () => ({ statusCode: 200, body: 'x'.repeat(131_073) })],
])('a handler that %s is answered by "Internal server error"', async (_title, handler) => {
  let received: MessageEvent | undefined;
  const emulator = await start({
    default(event) {
      received = event;
      return handler() as Promise<never>;
    },
  });
  const client = await Client.open(emulator.url);
  client.send('hello');
  expect(await client.next()).toBe(errorFrame('Internal server error', received));
});

test('a reply of 128 KB is sent', async () => {
  const body = 'x'.repeat(131_072);
  const emulator = await start({ default: async () => ({ ...ok, body }) });
  const client = await Client.open(emulator.url);
  client.send('hello');
  expect(await client.next()).toBe(body);
});

test('a message over 32 KB arrives in several when the option says so, cut between characters', async () => {
  const body = `a${'é'.repeat(20_000)}`;
  const emulator = await start({ default: async () => ({ ...ok, body }) }, { splitLargeMessages: true });
  const client = await Client.open(emulator.url);
  client.send('hello');
  const pieces = await client.nextMessages(2);
  expect(pieces.join('')).toBe(body);
  expect(Buffer.byteLength(pieces[0] ?? '')).toBe(32_767);
});

test('a handler that exceeds its timeout is given up with "Internal server error", and its result is ignored', async () => {
  const started = deferred<MessageEvent>();
  const late = deferred();
  const errors: string[] = [];
  const emulator = await start(
    {
      async default(event) {
        if (event.body === 'next') return { ...ok, body: 'next' };
        started.resolve(event);
        await late.promise;
        return { ...ok, body: 'too late' };
      },
    },
    { onInvocationError: (error) => errors.push(error.message) },
  );
  const client = await Client.open(emulator.url);
  client.send('hello');
  const event = await started.promise;
  await emulator.clock.advance(4_999);
  expect(client.received).toEqual([]);
  await emulator.clock.advance(1);
  expect(await client.next()).toBe(errorFrame('Internal server error', event));
  expect(errors).toEqual([expect.stringContaining('Task timed out after 5.00 seconds')]);
  late.resolve();
  await emulator.quiet();
  client.send('next');
  expect(await client.next()).toBe('next');
  expect(emulator.counters.snapshot().invocations.$default).toMatchObject({
    count: 2,
    timeouts: 1,
    billedMilliseconds: 5_001,
  });
});

test('an integration that exceeds 29 s is answered by "Endpoint request timed out", and the function runs on', async () => {
  const started = deferred<MessageEvent>();
  const late = deferred();
  const emulator = await start(
    {
      async default(event) {
        started.resolve(event);
        await late.promise;
        return { ...ok, body: 'too late' };
      },
    },
    { lambda: { timeoutMs: 900_000 } },
  );
  const client = await Client.open(emulator.url);
  client.send('hello');
  const event = await started.promise;
  await emulator.clock.advance(29_000);
  expect(await client.next()).toBe(errorFrame('Endpoint request timed out', event));
  await emulator.clock.advance(1_000);
  late.resolve();
  await eventually(() => emulator.counters.snapshot().invocations.$default !== undefined);
  expect(emulator.counters.snapshot().invocations.$default).toMatchObject({
    count: 1,
    timeouts: 0,
    billedMilliseconds: 30_000,
  });
  expect(client.received).toEqual([]);
});

test('a client with too many messages pending is closed with 1008', async () => {
  const emulator = await start(
    { default: () => new Promise(() => {}) },
    { limits: { pendingMessagesPerConnectionMax: 2 } },
  );
  const client = await Client.open(emulator.url);
  for (const body of ['1', '2', '3']) client.send(body);
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test('a client with many messages under way is not read until some are handled, and loses none', async () => {
  const waiting: (() => void)[] = [];
  const handle = async ({ body = '' }: MessageEvent) => {
    if (body !== 'other') await new Promise<void>((resolve) => void waiting.push(resolve));
    return { ...ok, body };
  };
  const emulator = await start({ default: handle }, { limits: { messagesReadAheadMax: 2 } });
  const client = await Client.open(emulator.url);
  // Too long for one chunk: what is behind it waits in the socket.
  const bodies = ['1', '2', '3', '4', '5'].map((body) => body.repeat(31_000));
  for (const body of bodies) client.send(body);
  await eventually(() => waiting.length >= 2);
  const other = await Client.open(emulator.url);
  other.send('other');
  expect(await other.next()).toBe('other');
  expect(waiting.length).toBeLessThan(bodies.length);
  const answers: string[] = [];
  while (answers.length < bodies.length) {
    await eventually(() => waiting.length > 0);
    waiting.shift()?.();
    answers.push(await client.next());
  }
  expect(answers.sort()).toEqual(bodies);
});

test('a reply to a client that has gone is lost', async () => {
  const started = deferred();
  const answer = deferred();
  const emulator = await start({
    async default() {
      started.resolve();
      await answer.promise;
      return { ...ok, body: 'nobody hears' };
    },
  });
  const client = await Client.open(emulator.url);
  client.send('hello');
  await started.promise;
  client.socket.terminate();
  await client.closed;
  await eventually(() => emulator.connectionIds().length === 0);
  answer.resolve();
  await emulator.quiet();
  expect(emulator.counters.snapshot().events).toMatchObject({ repliesToUnreachable: 1 });
});
