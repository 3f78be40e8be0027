import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';
import { upgrade } from './support/upgrade.ts';

test('clients of MQTT 5.0 are told 0x8B, the others see the close', async () => {
  const node = await nodeForTest();
  const { client } = await RawClient.connect(node.url);
  const { client: older } = await RawClient.connect(node.url, { protocolVersion: 4 });
  const silent = await RawClient.open(node.url);
  await node.stop();
  expect((await client.expect('disconnect')).reasonCode).toBe(0x8b);
  expect(await client.expectClose()).toBe(1000);
  await expect(older.next()).rejects.toThrow('closed with 1000');
  expect(await silent.expectClose()).toBe(1001);
});

test('while it waits for clients it is not healthy and takes no new ones', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, shutdownTimeoutSeconds: 1, closeTimeoutSeconds: 60 });
  const deaf = await deafConnection(node.port);
  const stopped = node.stop();
  const health = await fetch(new URL('/healthz', node.httpUrl));
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({ status: 'stopping', connections: 1 });
  expect(await upgrade(node.url)).toMatchObject({ status: 503 });
  // The one that does not answer the close is cut off after the second that it has.
  clock.advance(1_000);
  await stopped;
  if (!deaf.closed) await once(deaf, 'close');
});

test('a second stop waits for the first, and nothing listens afterwards', async () => {
  const node = await nodeForTest();
  await Promise.all([node.stop(), node.stop()]);
  await expect(fetch(node.httpUrl)).rejects.toThrow();
});

/** A WebSocket that answers nothing once it is open, a close least of all. */
async function deafConnection(port: number) {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(
    'GET /mqtt HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      'Sec-WebSocket-Protocol: mqtt\r\n\r\n',
  );
  await once(socket, 'data');
  socket.on('error', () => {});
  socket.resume();
  return socket;
}
