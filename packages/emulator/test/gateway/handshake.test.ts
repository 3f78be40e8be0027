import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ConnectEvent } from '../../src/index.ts';
import { Client, deferred, ok, refusal, start } from '../support.ts';

const choose = (protocol: string, name = 'Sec-WebSocket-Protocol') => ({
  connect: async () => ({ ...ok, headers: { [name]: protocol } }),
});

test('the upgrade waits for $connect', async () => {
  const asked = deferred();
  const answer = deferred();
  const emulator = await start({
    async connect() {
      asked.resolve();
      await answer.promise;
      return ok;
    },
  });
  const socket = new WebSocket(emulator.url);
  await asked.promise;
  expect(socket.readyState).toBe(WebSocket.CONNECTING);
  expect(emulator.connectionIds()).toEqual([]);
  const opened = new Promise((resolve) => socket.on('open', resolve));
  answer.resolve();
  await opened;
  expect(emulator.connectionIds()).toHaveLength(1);
});

test('a status of 400 or more refuses the handshake with that status', async () => {
  const emulator = await start({ connect: async () => ({ statusCode: 418 }) });
  expect(await refusal(emulator.url)).toMatchObject({ status: 418 });
  expect(emulator.counters.snapshot().connections).toMatchObject({ opened: 0, refused: 1 });
});

test('a $connect that throws refuses the handshake with 502', async () => {
  const emulator = await start({ connect: () => Promise.reject(new Error('no')) });
  expect(await refusal(emulator.url)).toMatchObject({ status: 502 });
});

test.each([
  ['nothing', undefined],
  ['text', 'ok'],
  ['no statusCode', {}],
  ['a statusCode that is text', { statusCode: '200' }],
  ['a redirect', { statusCode: 302 }],
  ['a body that is an object', { statusCode: 200, body: { a: 1 } }],
])('a $connect that returns %s refuses the handshake with 502', async (_title, result) => {
  const emulator = await start({ connect: async () => result as never });
  expect(await refusal(emulator.url)).toMatchObject({ status: 502 });
});

test('a $connect that exceeds the function timeout refuses the handshake with 502', async () => {
  const asked = deferred();
  const emulator = await start({
    connect() {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const refused = refusal(emulator.url);
  await asked.promise;
  await emulator.clock.advance(5_000);
  expect(await refused).toMatchObject({ status: 502 });
});

test('a $connect that exceeds 29 s refuses the handshake with 504', async () => {
  const asked = deferred();
  const emulator = await start(
    {
      connect() {
        asked.resolve();
        return new Promise(() => {});
      },
    },
    { lambda: { timeoutMs: 60_000 } },
  );
  const refused = refusal(emulator.url);
  await asked.promise;
  await emulator.clock.advance(29_000);
  expect(await refused).toMatchObject({ status: 504 });
});

test('no $disconnect follows a refused handshake', async () => {
  let disconnects = 0;
  const emulator = await start({
    connect: async () => ({ statusCode: 403 }),
    async disconnect() {
      disconnects += 1;
    },
  });
  await refusal(emulator.url);
  await emulator.quiet();
  expect(disconnects).toBe(0);
});

test('a client that leaves before $connect has answered is reported as 1006', async () => {
  const asked = deferred();
  const answer = deferred();
  const disconnected = deferred<number>();
  const emulator = await start({
    async connect() {
      asked.resolve();
      await answer.promise;
      return ok;
    },
    async disconnect(event) {
      disconnected.resolve(event.requestContext.disconnectStatusCode);
    },
  });
  const socket = new WebSocket(emulator.url);
  const left = new Promise((resolve) => socket.on('error', resolve));
  await asked.promise;
  socket.terminate();
  await left;
  answer.resolve();
  expect(await disconnected.promise).toBe(1006);
  expect(emulator.connectionIds()).toEqual([]);
});

test.each(['Sec-WebSocket-Protocol', 'sec-websocket-protocol', 'SEC-WEBSOCKET-PROTOCOL'])(
  'the subprotocol that $connect chose in the header %s is echoed',
  async (name) => {
    const emulator = await start(choose(' mqtt-text-v1', name));
    const client = await Client.open(emulator.url, ['other', 'mqtt-text-v1']);
    expect(client.socket.protocol).toBe('mqtt-text-v1');
  },
);

test('no subprotocol is echoed that $connect did not choose: clients that asked for one fail', async () => {
  const emulator = await start();
  await expect(Client.open(emulator.url, ['mqtt-text-v1'])).rejects.toThrow('Server sent no subprotocol');
  const silent = await Client.open(emulator.url);
  expect(silent.socket.protocol).toBe('');
});

test.each([[['other']], [[]]])(
  'a chosen subprotocol that was not among those offered (%j) fails',
  async (offered) => {
    const emulator = await start(choose('mqtt-text-v1'));
    expect(await refusal(emulator.url, offered)).toMatchObject({ status: 502 });
  },
);

test('$connect sees the headers in the case in which they were sent, and the query', async () => {
  let event: ConnectEvent | undefined;
  const emulator = await start({
    async connect(received) {
      event = received;
      return ok;
    },
  });
  await Client.open(`${emulator.url}?token=a%20b&tag=1&tag=2`, [], { headers: { 'X-myHeader': 'mine' } });
  expect(event?.headers['X-myHeader']).toBe('mine');
  expect(event?.multiValueHeaders['X-myHeader']).toEqual(['mine']);
  expect(event?.queryStringParameters).toEqual({ token: 'a b', tag: '2' });
  expect(event?.multiValueQueryStringParameters).toEqual({ token: ['a b'], tag: ['1', '2'] });
  expect(Object.keys(event?.headers ?? {}).map((name) => name.toLowerCase())).not.toContain('upgrade');
});

test('names of headers come in any case when the option says so', async () => {
  const names: string[] = [];
  const emulator = await start(
    {
      async connect(event) {
        names.push(...Object.keys(event.headers));
        return ok;
      },
    },
    { headerNames: 'random-case' },
  );
  await Client.open(emulator.url);
  expect(names).not.toContain('Sec-WebSocket-Key');
  expect(names.map((name) => name.toLowerCase())).toContain('sec-websocket-key');
});

test.each(['/', '/other', '/mqtt/', '/mqtt/deeper'])('the path %s is not the stage: 403', async (path) => {
  const emulator = await start();
  expect(await refusal(new URL(path, emulator.url).href)).toMatchObject({ status: 403 });
});

test('a URL of 4,096 characters passes, one more is refused with 414', async () => {
  const emulator = await start();
  const query = (characters: number) => `?${'q'.repeat(characters - '/mqtt?'.length)}`;
  await Client.open(emulator.url + query(4_096));
  expect(await refusal(emulator.url + query(4_097))).toMatchObject({ status: 414 });
});

test('more new connections a second than allowed are refused with 429, until a second has passed', async () => {
  const emulator = await start({}, { limits: { newConnectionsPerSecond: 2 } });
  await Promise.all([Client.open(emulator.url), Client.open(emulator.url)]);
  expect(await refusal(emulator.url)).toMatchObject({ status: 429 });
  await emulator.clock.advance(1_000);
  await Client.open(emulator.url);
});

test('connections beyond connectionsMax are refused with 503', async () => {
  const emulator = await start({}, { limits: { connectionsMax: 1 } });
  await Client.open(emulator.url);
  expect(await refusal(emulator.url)).toMatchObject({ status: 503 });
});

test('a connection id looks like one of AWS', async () => {
  const emulator = await start();
  await Client.open(emulator.url);
  expect(emulator.connectionIds()[0]).toMatch(/^[A-Za-z0-9_-]{15}=$/);
});
