import type { Packet, UserProperties } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { readStreams } from '../src/index.ts';
import { READER_INTERVALS_MAX } from '../src/streams/reader.ts';
import { FakeDelays } from './support/fake-delays.ts';
import { FakeDoor, type FakeLink } from './support/fake-door.ts';

const MS = 100;

async function world(topicFilter: string, userProperties: UserProperties = []) {
  const declared = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 1000 }], 'streams');
  const delays = new FakeDelays();
  const door = new FakeDoor({ streams: { declared, store: new MemoryStreams() }, delays });
  const [reader, publisher] = [await door.connect({ clientId: 'r' }), await door.connect({ clientId: 'p' })];
  reader.onDrainSoon = () => void door.broker.drain(reader);
  const publish = async (topic: string, ...texts: readonly string[]) => {
    for (const text of texts) await door.publish(publisher, topic, text);
  };
  const subscribe = async () => {
    const asked: UserProperties = [['conflate-ms', String(MS)], ...userProperties];
    await door.subscribe(reader, topicFilter, 0, { properties: { userProperties: asked } });
  };
  return { door, delays, reader, publish, subscribe };
}

const isPublish = (packet: Packet) => packet.type === 'publish';

function texts(reader: FakeLink): string[] {
  return reader
    .take()
    .filter(isPublish)
    .map(({ payload }) => Buffer.from(payload).toString());
}

describe('A conflated reader of a stream', () => {
  it('is sent the past whole, and then the newest message of each interval', async () => {
    const { delays, reader, publish, subscribe } = await world('s/a', [['rewind', '2']]);
    await publish('s/a', '1', '2');
    await subscribe();
    await publish('s/a', '3', '4');
    expect(texts(reader)).toEqual(['1', '2']);
    delays.advance(MS);
    expect(texts(reader)).toEqual(['4']);
    await publish('s/a', '5');
    expect(texts(reader)).toEqual([]);
    delays.advance(MS);
    expect(texts(reader)).toEqual(['5']);
    delays.advance(MS);
    // An interval without a message: the next one comes at once.
    await publish('s/a', '6', '7');
    expect(texts(reader)).toEqual(['6']);
  });

  it('has an interval for each topic', async () => {
    const { delays, reader, publish, subscribe } = await world('$stream/s');
    await subscribe();
    await publish('s/a', 'a1', 'a2');
    await publish('s/b', 'b1', 'b2');
    expect(texts(reader)).toEqual(['a1', 'b1']);
    delays.advance(MS);
    expect(texts(reader).sort()).toEqual(['a2', 'b2']);
  });

  it('that is not ready is sent the newest message when it is ready again, and no older one behind it', async () => {
    const { door, delays, reader, publish, subscribe } = await world('s/a', [['stream-offset', 'latest']]);
    await subscribe();
    await publish('s/a', '1', '2');
    expect(texts(reader)).toEqual(['1']);
    reader.isReady = false;
    delays.advance(MS);
    await publish('s/a', '3', '4');
    expect(texts(reader)).toEqual([]);
    reader.isReady = true;
    await door.broker.drain(reader);
    expect(texts(reader)).toEqual(['4']);
    delays.advance(10 * MS);
    expect(texts(reader)).toEqual([]);
  });

  it('is sent every message of topics beyond the number that it can hold', async () => {
    const { delays, reader, publish, subscribe } = await world('$stream/s');
    await subscribe();
    for (let index = 0; index <= READER_INTERVALS_MAX; index += 1) await publish(`s/${index}`, 'first');
    texts(reader);
    await publish(`s/${READER_INTERVALS_MAX}`, 'beyond');
    await publish('s/0', 'held');
    expect(texts(reader)).toEqual(['beyond']);
    delays.advance(MS);
    expect(texts(reader)).toEqual(['held']);
  });

  it('leaves no timer behind when its client subscribes again [SEC-GROWTH-2]', async () => {
    const { delays, publish, subscribe } = await world('$stream/s');
    for (let round = 0; round < 3; round += 1) {
      await subscribe();
      for (let index = 0; index < 10; index += 1) await publish(`s/${index}`, 'first');
      expect(delays.size).toBe(10);
    }
  });

  it('that has unsubscribed is sent no held message', async () => {
    const { door, delays, reader, publish, subscribe } = await world('s/a');
    await subscribe();
    await publish('s/a', '1', '2');
    texts(reader);
    await door.broker.receive(reader, {
      type: 'unsubscribe',
      packetId: 2,
      topicFilters: ['s/a'],
      properties: {},
    });
    delays.advance(MS);
    expect(texts(reader)).toEqual([]);
  });
});
