import { generate } from 'mqtt-packet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { packetLength } from '../../../test/support/packet-length.ts';
import { RawClient } from '../../../test/support/raw-client.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

describe('packets in frames [MQTT-6.0.0-2]', () => {
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

describe('packets of one turn', () => {
  /** The payloads of the frames that a client gets until they hold so many bytes behind CONNACK. */
  async function framesFor(url: string, packets: Buffer, bytesWanted: number): Promise<Buffer[]> {
    const socket = new WebSocket(url, 'mqtt');
    onTestFinished(() => socket.terminate());
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(Buffer.from('100d00044d51545405020000000000', 'hex'));
    await new Promise((resolve) => socket.once('message', resolve));
    const frames: Buffer[] = [];
    const all = new Promise<void>((resolve) => {
      socket.on('message', (bytes: Buffer) => {
        frames.push(bytes);
        if (frames.reduce((sum, frame) => sum + frame.length, 0) >= bytesWanted) resolve();
      });
    });
    socket.send(packets);
    await all;
    return frames;
  }

  test('leave in one frame', async () => {
    // No time passes, so all packets have room in one turn.
    const node = await nodeForTest({ clock: new FakeScheduler() });
    const frames = await framesFor(node.url, Buffer.from('c000'.repeat(100), 'hex'), 200);
    expect(frames.map((frame) => frame.toString('hex'))).toEqual(['d000'.repeat(100)]);
  });

  test('are whole in their frame, however large', async () => {
    const node = await nodeForTest();
    const packets = [100, 5_000, 20_000, 70_000].map((bytes) => publishOf(bytes));
    const subscribe = Buffer.from('820700010000016100', 'hex');
    const wanted = packets.reduce((sum, packet) => sum + packet.length, 0);
    const frames = await framesFor(node.url, Buffer.concat([subscribe, ...packets]), 6 + wanted);
    for (const frame of frames) expect(wholePackets(frame)).toBe(true);
    expect(Buffer.concat(frames).subarray(6).equals(Buffer.concat(packets))).toBe(true);
  });
});

/** A PUBLISH at QoS 0 to the topic `a`, of MQTT 5, with a payload of so many bytes. */
function publishOf(payloadBytes: number): Buffer {
  const packet = { cmd: 'publish', topic: 'a', payload: Buffer.alloc(payloadBytes, 'x'), qos: 0 };
  return generate(packet as never, { protocolVersion: 5 } as never);
}

/** Whether the last packet ends where the frame does. */
function wholePackets(frame: Buffer): boolean {
  if (frame.length === 0) return true;
  const length = packetLength(frame);
  return length > 0 && wholePackets(frame.subarray(length));
}
