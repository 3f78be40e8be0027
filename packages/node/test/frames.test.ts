import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { frameHeader } from '../src/web-socket-frame.ts';
import { nodeForTest } from './support/nodes.ts';

test('a text frame closes the WebSocket with 1003 [MQTT-6.0.0-1]', async () => {
  const node = await nodeForTest();
  const { client } = await RawClient.connect(node.url);
  client.sendText('hello');
  expect(await client.expectClose()).toBe(1003);
});

describe('packets in frames [MQTT-6.0.0-2]', () => {
  test('a byte in each frame', async () => {
    const node = await nodeForTest();
    const { client } = await RawClient.connect(node.url);
    for (const byte of Buffer.from('c000c000', 'hex')) client.sendBytes(Buffer.of(byte));
    await client.expect('pingresp');
    await client.expect('pingresp');
  });

  test('thousands of packets in one frame are answered, and another client is served meanwhile', async () => {
    const node = await nodeForTest();
    const { client } = await RawClient.connect(node.url);
    const { client: other } = await RawClient.connect(node.url);
    client.sendBytes(Buffer.from('c000'.repeat(100_000), 'hex'));
    await other.expectNothing();
    for (let left = 100_000; left > 0; left -= 1) await client.expect('pingresp');
  });

  test('a message over the limit closes the WebSocket with 1009', async () => {
    const node = await nodeForTest({ webSocketMessageBytesMax: 1024, maximumPacketSize: 512 });
    const client = await RawClient.open(node.url);
    client.sendBytes(Buffer.alloc(1025));
    expect(await client.expectClose()).toBe(1009);
  });
});

test('headers of frames are what RFC 6455 says they are', () => {
  expect(frameHeader(0).toString('hex')).toBe('8200');
  expect(frameHeader(125).toString('hex')).toBe('827d');
  expect(frameHeader(126).toString('hex')).toBe('827e007e');
  expect(frameHeader(65_535).toString('hex')).toBe('827effff');
  expect(frameHeader(65_536).toString('hex')).toBe('827f0000000000010000');
});

test('a packet larger than 64 KiB arrives whole, at QoS 0 and 1', async () => {
  const node = await nodeForTest();
  const { client } = await RawClient.connect(node.url);
  client.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: 'large', qos: 1, nl: false, rap: false, rh: 0 }],
  });
  await client.expect('suback');
  const payload = Buffer.alloc(100_000, 'x');
  client.send({ cmd: 'publish', topic: 'large', payload, qos: 0 });
  client.send({ cmd: 'publish', topic: 'large', payload, qos: 1, messageId: 7 });
  const first = await client.expect('publish');
  expect(payload.equals(first.payload as Buffer)).toBe(true);
  const second = await client.expect('publish');
  expect(payload.equals(second.payload as Buffer)).toBe(true);
  expect(second.messageId).toBe(1);
});
