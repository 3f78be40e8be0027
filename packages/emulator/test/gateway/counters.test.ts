import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import { Client, eventually, managementClient, ok, start } from '../support.ts';

test('messages are billed by 32 KB begun, each direction', async () => {
  const emulator = await start({ default: async () => ({ ...ok, body: 'r'.repeat(32_769) }) });
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  client.send('m'.repeat(32_768));
  await client.next();
  await managementClient(emulator).send(
    new PostToConnectionCommand({ ConnectionId, Data: 'p'.repeat(65_537) }),
  );
  await client.next();
  expect(emulator.counters.snapshot().messages).toEqual({
    in: { count: 1, billed: 1, bytes: 32_768 },
    replies: { count: 1, billed: 2, bytes: 32_769 },
    posts: { count: 1, billed: 3, bytes: 65_537 },
    errors: { count: 0, billed: 0, bytes: 0 },
  });
});

test('error frames are counted apart', async () => {
  const emulator = await start({ default: () => Promise.reject(new Error('broken')) });
  const client = await Client.open(emulator.url);
  client.send('hello');
  await client.next();
  const { invocations, messages } = emulator.counters.snapshot();
  expect(messages.errors).toMatchObject({ count: 1, billed: 1 });
  expect(invocations.$default).toMatchObject({ count: 1, errors: 1, timeouts: 0 });
});

test('connection time runs from the handshake to the end, and a reset begins it anew', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  await Client.open(emulator.url);
  await emulator.clock.advance(60_000);
  client.socket.close();
  await client.closed;
  await eventually(() => emulator.connectionIds().length === 1);
  await emulator.clock.advance(1_000);
  expect(emulator.counters.snapshot().connections).toEqual({
    opened: 2,
    refused: 0,
    open: 1,
    milliseconds: 121_000,
  });
  emulator.counters.reset();
  await emulator.clock.advance(500);
  expect(emulator.counters.snapshot().connections).toEqual({
    opened: 0,
    refused: 0,
    open: 1,
    milliseconds: 500,
  });
});

test('gigabyte-seconds are counted by the configured memory', async () => {
  const running: (() => void)[] = [];
  const emulator = await start(
    {
      async default() {
        await new Promise<void>((resolve) => running.push(resolve));
        return ok;
      },
    },
    { lambda: { memoryMegabytes: 2_048 } },
  );
  const client = await Client.open(emulator.url);
  emulator.counters.reset();
  client.send('hello');
  await eventually(() => running.length === 1);
  await emulator.clock.advance(250);
  running[0]?.();
  await eventually(() => emulator.counters.snapshot().lambda.invocations === 1);
  expect(emulator.counters.snapshot().lambda).toEqual({
    invocations: 1,
    billedMilliseconds: 250,
    gigabyteSeconds: 0.5,
    coldStarts: 0,
    initMilliseconds: 0,
  });
});

test('calls are counted by method and result, invocations by route', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  const ConnectionId = emulator.connectionIds()[0] ?? '';
  client.send('hello');
  await client.next();
  const post = (id: string) =>
    managementClient(emulator).send(new PostToConnectionCommand({ ConnectionId: id, Data: 'x' }));
  await post(ConnectionId);
  await expect(post('AAAAAAAAAAAAAAA=')).rejects.toThrow();
  const { invocations, managementCalls } = emulator.counters.snapshot();
  expect(managementCalls).toEqual({ 'POST 200': 1, 'POST 410': 1 });
  expect(Object.keys(invocations)).toEqual(['$connect', '$default']);
});

test('a snapshot does not change any more', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  const before = emulator.counters.snapshot();
  client.send('hello');
  await client.next();
  expect(before.messages.in.count).toBe(0);
});
