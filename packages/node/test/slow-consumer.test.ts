import { once } from 'node:events';
import { parser as createParser, generate } from 'mqtt-packet';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { RawClient } from '../../../test/support/raw-client.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

// Each of so many large messages is waited for.
vi.setConfig({ testTimeout: 120_000 });

const MEBIBYTE = 1024 * 1024;
const PAYLOAD = Buffer.alloc(64 * 1024, 'x');
const END = 'end';
/** More than the kernel takes for two sockets of one machine, beside the node's own buffer. */
const MESSAGES = 1000;
/** For all of them, and only against a hang. */
const READ_MS_MAX = 60_000;

interface PausedClient {
  readonly payloadSizes: number[];
  read(): void;
  send(packet: object): void;
}

/** A subscriber that stops reading once it has its SUBACK. */
async function pausedSubscriber(
  url: string,
  qos: 0 | 1,
  topic = 't',
  clientId = 'slow',
): Promise<PausedClient> {
  const socket = new WebSocket(url, 'mqtt');
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const send = (packet: object): void => socket.send(generate(packet as never, { protocolVersion: 5 }));
  const payloadSizes: number[] = [];
  const parser = createParser({ protocolVersion: 5 });
  const subscribed = new Promise<void>((resolve) => {
    parser.on('packet', (packet) => {
      if (packet.cmd === 'suback') resolve();
      if (packet.cmd !== 'publish') return;
      payloadSizes.push(packet.payload.length);
      if (packet.qos === 1) send({ cmd: 'puback', messageId: packet.messageId });
    });
  });
  socket.on('message', (data) => parser.parse(data as Buffer));
  send({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId,
    keepalive: 0,
  });
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] });
  await subscribed;
  socket.pause();
  return { payloadSizes, send, read: () => socket.resume() };
}

test('QoS 0 is dropped for a subscriber that does not read, and others get everything', async () => {
  const node = await nodeForTest();
  const slow = await pausedSubscriber(node.url, 0);
  const { client } = await RawClient.connect(node.url);
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] });
  await client.expect('suback');
  for (let left = MESSAGES; left > 0; left -= 1) {
    client.send({ cmd: 'publish', topic: 't', payload: PAYLOAD, qos: 0 });
    await client.expect('publish');
  }
  slow.read();
  // The client reads the messages that were not dropped, and behind them the first END that is not dropped.
  while (!slow.payloadSizes.includes(END.length)) {
    client.send({ cmd: 'publish', topic: 't', payload: END, qos: 0 });
    await client.expect('publish');
  }
  const received = slow.payloadSizes.filter((size) => size === PAYLOAD.length).length;
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(MESSAGES);
});

test('QoS 1 waits in the queue for a subscriber that does not read, and arrives when it does', async () => {
  const node = await nodeForTest({
    queueLengthMax: MESSAGES,
    queueBytesMax: 128 * MEBIBYTE,
    inflightMessagesMax: MESSAGES,
  });
  const slow = await pausedSubscriber(node.url, 1);
  const { client } = await RawClient.connect(node.url);
  for (let index = 0; index < MESSAGES; index += 1) {
    client.send({ cmd: 'publish', topic: 't', payload: PAYLOAD, qos: 1, messageId: 1 });
    await client.expect('puback');
  }
  slow.read();
  await expect.poll(() => slow.payloadSizes.length, { timeout: READ_MS_MAX }).toBe(MESSAGES);
});

test('a client that does not read is not read from: what it sends itself waits on its side, and nothing is dropped', async () => {
  const node = await nodeForTest();
  const slow = await pausedSubscriber(node.url, 0);
  for (let left = MESSAGES; left > 0; left -= 1) {
    slow.send({ cmd: 'publish', topic: 't', payload: PAYLOAD, qos: 0 });
  }
  const { client } = await RawClient.connect(node.url);
  for (let left = 100; left > 0; left -= 1) await client.expectNothing();
  slow.read();
  await expect.poll(() => slow.payloadSizes.length, { timeout: READ_MS_MAX }).toBe(MESSAGES);
});

test('a watcher of a large room that does not read is sent the members as it reads, and no other watcher waits for it', async () => {
  const members = 16_000;
  const data = Buffer.alloc(1_000, 'x');
  const node = await nodeForTest({
    presenceRoomsPerSessionMax: members,
    presenceRoomsPerIdentityMax: members,
  });
  const { client: crowd } = await RawClient.connect(node.url, { clientId: 'crowd' });
  for (let member = 0; member < members; member += 1)
    crowd.send({ cmd: 'publish', topic: `$presence/hall/m${member}`, payload: data, qos: 0 });
  // Answered behind them.
  crowd.send({ cmd: 'pingreq' });
  await crowd.expect('pingresp');
  const slow = await pausedSubscriber(node.url, 0, '$presence/hall/+');
  const { client: quick } = await RawClient.connect(node.url, { clientId: 'quick' });
  quick.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$presence/hall/+', qos: 0 }] });
  await quick.expect('suback');
  for (let member = 0; member < members; member += 1)
    expect((await quick.expect('publish')).retain).toBe(true);
  crowd.send({ cmd: 'publish', topic: '$presence/hall/m0', payload: END, qos: 0 });
  expect(await quick.expect('publish')).toMatchObject({ topic: '$presence/hall/m0', retain: false });
  // The node holds for it what a socket holds, and not the room.
  const { body } = await call(node.httpUrl, '/clients/slow');
  expect((body as { send_msg: number }).send_msg).toBeLessThan(members);
  slow.read();
  await expect.poll(() => slow.payloadSizes.length, { timeout: READ_MS_MAX }).toBeGreaterThanOrEqual(members);
});

test('[SEC-MEMORY-9] clients that read nothing are cut where they would hold more than a node may, and one that reads gets everything', async () => {
  const node = await nodeForTest({ outboundTotalBytesMax: 4 * MEBIBYTE });
  const large = Buffer.alloc(1_500_000, 'x');
  for (let index = 0; index < 10; index += 1) await pausedSubscriber(node.url, 0, 't', `slow-${index}`);
  const { client } = await RawClient.connect(node.url);
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] });
  await client.expect('suback');
  for (let left = 20; left > 0; left -= 1) {
    client.send({ cmd: 'publish', topic: 't', payload: large, qos: 0 });
    await client.expect('publish');
  }
  const { body } = await call(node.httpUrl, '/clients');
  expect((body as { data: unknown[] }).data.length).toBeLessThan(11);
});
