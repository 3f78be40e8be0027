import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

test('a client that never sends CONNECT is closed with 1008 and told nothing before [MQTT-3.14.0-1]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, connectTimeoutSeconds: 7 });
  const client = await RawClient.open(node.url);
  clock.advance(7_000);
  client.sendBytes(Buffer.of(0x10));
  clock.advance(500);
  expect(await client.expectClose()).toBe(1008);
  await expect(client.next()).rejects.toThrow('closed');
});

test('a client that authenticates for ever is closed too', async () => {
  const clock = new FakeScheduler();
  const authenticator = { authenticate: () => new Promise<never>(() => {}) };
  const node = await nodeForTest({ clock, authenticator });
  const client = await RawClient.open(node.url);
  client.send({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: 'a',
    keepalive: 0,
  });
  // A second WebSocket, opened after the CONNECT was sent, shows that the node has read it.
  (await RawClient.open(node.url)).close();
  clock.advance(11_000);
  expect(await client.expectClose()).toBe(1008);
});

test('silence for 1.5 times the Keep Alive ends the connection with 0x8D [MQTT-3.1.2-22]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock });
  const { client } = await RawClient.connect(node.url, { keepalive: 10 });
  clock.advance(14_000);
  await client.expectNothing();
  clock.advance(15_000);
  await client.expectNothing();
  clock.advance(15_250);
  expect((await client.expect('disconnect')).reasonCode).toBe(0x8d);
  expect(await client.expectClose()).toBe(1000);
});

test('a Keep Alive of 0 lets a client be silent for ever', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock });
  const { client } = await RawClient.connect(node.url, { keepalive: 0 });
  clock.advance(24 * 60 * 60 * 1000);
  await client.expectNothing();
});
