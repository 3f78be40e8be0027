import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import type { EmulatorOptions } from '../../src/index.ts';
import { Client, deferred, eventually, managementClient, ok, start } from '../support.ts';

const MINUTE = 60_000;

/** An emulator that writes down how connections end. */
async function recording(options: Partial<EmulatorOptions> = {}) {
  const ends: [number, string][] = [];
  const emulator = await start(
    {
      async disconnect(event) {
        const { disconnectReason, disconnectStatusCode } = event.requestContext;
        ends.push([disconnectStatusCode, disconnectReason]);
      },
    },
    options,
  );
  return { emulator, ends };
}

test('ten idle minutes close with 1001', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  await emulator.clock.advance(10 * MINUTE - 1);
  expect(emulator.connectionIds()).toHaveLength(1);
  await emulator.clock.advance(1);
  expect(await client.closed).toEqual({ code: 1001, reason: 'Going away' });
  await emulator.quiet();
  expect(ends).toEqual([[1001, 'Going away']]);
});

test('a message from the client, a reply and a post each begin the ten minutes anew', async () => {
  const { emulator } = await recording();
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  await emulator.clock.advance(9 * MINUTE);
  client.send('hello');
  await client.next();
  await emulator.clock.advance(9 * MINUTE);
  await managementClient(emulator).send(new PostToConnectionCommand({ ConnectionId, Data: 'post' }));
  await emulator.clock.advance(9 * MINUTE);
  expect(emulator.connectionIds()).toHaveLength(1);
  await emulator.clock.advance(MINUTE);
  expect(await client.closed).toMatchObject({ code: 1001 });
});

test.each([
  [false, 0],
  [true, 1],
])('whether a protocol-level ping begins them anew is an option (%s)', async (pingResetsIdle, open) => {
  const { emulator } = await recording({ pingResetsIdle });
  const client = await Client.open(emulator.url);
  await emulator.clock.advance(9 * MINUTE);
  const pong = new Promise((resolve) => client.socket.on('pong', resolve));
  client.socket.ping();
  await pong;
  await emulator.clock.advance(2 * MINUTE);
  expect(emulator.connectionIds()).toHaveLength(open);
});

test('two hours close with 1001, however busy the connection is', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  for (let minute = 5; minute < 120; minute += 5) {
    await emulator.clock.advance(5 * MINUTE);
    client.send('busy');
    await client.next();
  }
  await emulator.clock.advance(5 * MINUTE - 1);
  expect(emulator.connectionIds()).toHaveLength(1);
  await emulator.clock.advance(1);
  expect(await client.closed).toMatchObject({ code: 1001 });
  await emulator.quiet();
  expect(ends).toEqual([[1001, 'Going away']]);
  expect(emulator.counters.snapshot().events).toEqual({ connectionDurationOver: 1 });
});

test.each<[string, (client: Client) => void, [number, string]]>([
  ['with a code and a reason', (client) => client.socket.close(4000, 'done'), [4000, 'done']],
  ['without a code', (client) => client.socket.close(), [1005, 'Client-side close frame status not set']],
  ['without a close frame', (client) => client.socket.terminate(), [1006, '']],
])('a client that closes %s is reported to $disconnect', async (_title, close, expected) => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  close(client);
  await client.closed;
  await eventually(() => ends.length > 0);
  expect(ends).toEqual([expected]);
});

test('$disconnect comes late with a configured delay', async () => {
  const { emulator, ends } = await recording({ faults: { disconnectDelayMs: 500 } });
  const client = await Client.open(emulator.url);
  client.socket.close(1000);
  await client.closed;
  await eventually(() => emulator.connectionIds().length === 0);
  await emulator.clock.advance(499);
  expect(ends).toEqual([]);
  await emulator.clock.advance(1);
  await emulator.quiet();
  expect(ends).toEqual([[1000, '']]);
});

test('$disconnect is lost with the configured probability', async () => {
  const { emulator, ends } = await recording({ faults: { dropDisconnect: 0.5 } });
  const clients = await Promise.all(Array.from({ length: 40 }, () => Client.open(emulator.url)));
  for (const client of clients) client.socket.close(1000);
  await Promise.all(clients.map((client) => client.closed));
  await eventually(() => emulator.connectionIds().length === 0);
  await emulator.quiet();
  const dropped = emulator.counters.snapshot().events.dropDisconnect ?? 0;
  expect(dropped).toBeGreaterThan(5);
  expect(dropped).toBeLessThan(35);
  expect(ends.length + dropped).toBe(40);
});

test('$disconnect may run while $default is still running', async () => {
  const started = deferred();
  const disconnected = deferred();
  const emulator = await start({
    async default() {
      started.resolve();
      await disconnected.promise;
      return ok;
    },
    async disconnect() {
      disconnected.resolve();
    },
  });
  const client = await Client.open(emulator.url);
  client.send('hello');
  await started.promise;
  client.socket.close();
  await disconnected.promise;
  await emulator.quiet();
});

test('a $disconnect that throws disturbs no other connection', async () => {
  const errors: string[] = [];
  const emulator = await start(
    { disconnect: () => Promise.reject(new Error('broken')) },
    { onInvocationError: (error) => errors.push(error.message) },
  );
  const client = await Client.open(emulator.url);
  client.socket.close();
  await client.closed;
  await eventually(() => errors.length > 0);
  expect(errors).toEqual(['broken']);
});

test('the gateway may close on command, as at a restart', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  const id = emulator.connectionIds()[0] ?? '';
  expect(emulator.closeConnection(id, 1012, 'restart')).toBe(true);
  expect(emulator.closeConnection(id, 1012)).toBe(false);
  expect(await client.closed).toEqual({ code: 1012, reason: 'restart' });
  await emulator.quiet();
  expect(ends).toEqual([[1012, 'restart']]);
});

test('a connection that is cut is gone at once', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  emulator.cutConnection(emulator.connectionIds()[0] ?? '');
  expect(await client.closed).toMatchObject({ code: 1006 });
  await eventually(() => ends.length > 0);
  expect(ends).toEqual([[1006, '']]);
});

test('a client that is lost unnoticed gets posts until its buffer is full, and ends when idle', async () => {
  const { emulator, ends } = await recording({ limits: { clientBufferBytesMax: 100 } });
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  emulator.loseConnection(ConnectionId);
  expect(await client.closed).toMatchObject({ code: 1006 });
  const post = () =>
    managementClient(emulator).send(new PostToConnectionCommand({ ConnectionId, Data: 'x'.repeat(101) }));
  await post();
  await expect(post()).rejects.toMatchObject({ name: 'LimitExceededException' });
  expect(ends).toEqual([]);
  await emulator.clock.advance(10 * MINUTE);
  await emulator.quiet();
  expect(ends).toEqual([[1001, 'Going away']]);
});

test('as if a cable had been pulled, neither side notices', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  emulator.loseConnection(ConnectionId, false);
  client.send('hello');
  await managementClient(emulator).send(new PostToConnectionCommand({ ConnectionId, Data: 'post' }));
  await emulator.clock.advance(9 * MINUTE);
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  expect(client.received).toEqual([]);
  expect(emulator.counters.snapshot().messages.in.count).toBe(0);
  await emulator.clock.advance(MINUTE);
  await emulator.quiet();
  expect(ends).toEqual([[1001, 'Going away']]);
});

test('stop ends every connection, without a $disconnect, and can be called twice', async () => {
  const { emulator, ends } = await recording();
  const client = await Client.open(emulator.url);
  await emulator.stop();
  await emulator.stop();
  expect(await client.closed).toMatchObject({ code: 1006 });
  expect(ends).toEqual([]);
});

test('stop ends a handshake that is still waiting', async () => {
  const asked = deferred();
  const emulator = await start({
    connect() {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const opening = Client.open(emulator.url);
  await asked.promise;
  await emulator.stop();
  await expect(opening).rejects.toThrow('socket hang up');
});
