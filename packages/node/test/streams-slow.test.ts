import { describe, expect, test } from 'vitest';
import { RawClient, type Received } from '../../../test/support/raw-client.ts';
import { nodeForTest } from './support/nodes.ts';

const BYTES = 4000;
const STREAM = { name: 's', topicFilter: 's/#', messagesMax: 2000 };

const positionOf = ({ properties }: Received): number =>
  Number(
    (
      (properties as { userProperties: Record<string, string> }).userProperties['stream-position'] ?? ''
    ).split('-')[1],
  );

async function reading(url: string, userProperties: Record<string, string>) {
  const { client } = await RawClient.connect(url);
  client.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: 's/a', qos: 0 }],
    properties: { userProperties },
  });
  await client.expect('suback');
  return client;
}

async function publishAll(url: string, from: number, to: number) {
  const { client } = await RawClient.connect(url);
  for (let number = from; number <= to; number += 1) {
    client.send({
      cmd: 'publish',
      topic: 's/a',
      payload: Buffer.alloc(BYTES),
      qos: 1,
      messageId: number,
      retain: false,
      dup: false,
    });
    expect((await client.expect('puback')).reasonCode ?? 0).toBeLessThan(0x80);
  }
}

describe('a reader of a stream that does not read', () => {
  test('is sent later, in order, what it could not be sent, and is live again', async () => {
    const { url } = await nodeForTest({ streams: [STREAM], outboundBufferBytesMax: 10 * BYTES });
    const reader = await reading(url, { 'stream-offset': 'latest' });
    reader.pause();
    await publishAll(url, 1, 1500);
    reader.resume();
    // While it catches up, more comes: none of that overtakes.
    const publishing = publishAll(url, 1501, 1900);
    for (let number = 1; number <= 1900; number += 1)
      expect(positionOf(await reader.expect('publish'))).toBe(number);
    await publishing;
    await publishAll(url, 1901, 1901);
    expect(positionOf(await reader.expect('publish'))).toBe(1901);
  });

  test('is disconnected with 0x97 when what it has not read is kept no more', async () => {
    const stream = { ...STREAM, messagesMax: 5 };
    const { url } = await nodeForTest({ streams: [stream], outboundBufferBytesMax: 10 * BYTES });
    const reader = await reading(url, { 'stream-offset': 'latest' });
    reader.pause();
    await publishAll(url, 1, 1500);
    reader.resume();
    let last = 0;
    for (;;) {
      const packet = await reader.next();
      if (packet.cmd !== 'publish') {
        expect(packet).toMatchObject({ cmd: 'disconnect', reasonCode: 0x97 });
        break;
      }
      // No message is left out before that.
      expect(positionOf(packet)).toBe(last + 1);
      last += 1;
    }
    expect(last).toBeLessThan(1500);
  });

  test('of the past is sent as much of it as it reads', async () => {
    const { url } = await nodeForTest({ streams: [STREAM], outboundBufferBytesMax: 10 * BYTES });
    await publishAll(url, 1, 1000);
    const reader = await reading(url, { rewind: '900' });
    for (let number = 101; number <= 1000; number += 1)
      expect(positionOf(await reader.expect('publish'))).toBe(number);
  });
});
