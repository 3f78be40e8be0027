import { ReasonCode, type UserProperties } from '@apus/mqtt';
import { MemoryRetained, MemoryStreams } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { readStreams, type Stores, type StreamStore } from '../src/index.ts';
import { FakeDoor } from './support/fake-door.ts';

const TOPIC = 's/a';
const declared = readStreams([{ name: 's', topicFilter: 's/#', topicsMax: 1 }], 'streams');

/** A store whose log others take for themselves while `isContended`. */
function contendedStore() {
  const store = new MemoryStreams();
  const state = { isContended: true };
  const [append, tail] = [store.append.bind(store), store.tail.bind(store)];
  const contended: StreamStore = Object.assign(store, {
    append: (...call: Parameters<typeof append>) => (state.isContended ? 'contended' : append(...call)),
    tail: (...call: Parameters<typeof tail>) => (state.isContended ? 'contended' : tail(...call)),
  }) as unknown as StreamStore;
  return { store: contended, state };
}

/** Where several processes publish: says ahead whether there is room. */
class SharedRetained extends MemoryRetained {
  hasPlace = true;
  readonly calls: string[] = [];

  hasRoom(): boolean {
    return this.hasPlace;
  }

  override put(...call: Parameters<MemoryRetained['put']>): boolean {
    this.calls.push('put');
    return super.put(...call);
  }
}

const over = (retained: MemoryRetained) => ({ wrap: (stores: Stores) => ({ ...stores, retained }) });

const retainedOf = (retained: MemoryRetained) =>
  retained
    .match('default', TOPIC, 0, undefined, { messages: 10, bytes: 1_000 })
    .messages.map(({ payload }) => Buffer.from(payload).toString());

describe('a retained message of a stream', () => {
  it('is retained only after its stream has accepted it', async () => {
    const retained = new SharedRetained();
    const { store, state } = contendedStore();
    const door = new FakeDoor({ ...over(retained), streams: { declared, store, isShared: true } });
    const publisher = await door.connect();
    publisher.take();
    await door.publish(publisher, TOPIC, '1', { qos: 1, retain: true });
    expect(publisher.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(retainedOf(retained)).toEqual([]);
    state.isContended = false;
    await door.publish(publisher, TOPIC, '2', { qos: 1, retain: true });
    expect(publisher.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.Success }]);
    expect(retainedOf(retained)).toEqual(['2']);
    await door.publish(publisher, TOPIC, '', { qos: 1, retain: true });
    expect(retainedOf(retained)).toEqual([]);
  });

  it('is not appended when there is no room to retain it', async () => {
    const retained = new SharedRetained();
    const store = new MemoryStreams();
    const door = new FakeDoor({ ...over(retained), streams: { declared, store, isShared: true } });
    const publisher = await door.connect();
    publisher.take();
    retained.hasPlace = false;
    await door.publish(publisher, TOPIC, '1', { qos: 1, retain: true });
    expect(publisher.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(store.figures('default', declared.all[0] as never).messages).toBe(0);
    // At QoS 0 the publisher is not told: the message is published, and not retained.
    await door.publish(publisher, TOPIC, '2', { qos: 0, retain: true });
    expect(store.figures('default', declared.all[0] as never).messages).toBe(1);
    expect(retained.calls).toEqual([]);
  });

  it('is retained before its subscribers are looked up', async () => {
    const retained = new SharedRetained();
    const store = new MemoryStreams();
    const door = new FakeDoor({ ...over(retained), streams: { declared, store, isShared: true } });
    const [publisher, subscriber] = [await door.connect(), await door.connect()];
    subscriber.take();
    const put = retained.put.bind(retained);
    let during = async (): Promise<void> => await door.subscribe(subscriber, TOPIC, 1);
    Object.assign(retained, {
      put: async (...call: Parameters<typeof put>) => {
        await during();
        during = async () => {};
        return put(...call);
      },
    });
    await door.publish(publisher, TOPIC, '1', { qos: 1, retain: true });
    expect(subscriber.take().filter(({ type }) => type === 'publish')).toHaveLength(1);
  });

  it('is not retained at a node where the stream has as many topics as it may', async () => {
    const retained = new MemoryRetained();
    const door = new FakeDoor({ ...over(retained), streams: { declared, store: new MemoryStreams() } });
    const publisher = await door.connect();
    await door.publish(publisher, 's/other', 'x', { qos: 1 });
    publisher.take();
    await door.publish(publisher, TOPIC, '1', { qos: 1, retain: true });
    expect(publisher.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(retainedOf(retained)).toEqual([]);
  });
});

describe('SUBSCRIBE to a topic whose log is contended', () => {
  it('is refused for now, and the reason says so', async () => {
    const { store } = contendedStore();
    const door = new FakeDoor({ streams: { declared, store, isShared: true } });
    const reader = await door.connect();
    reader.take();
    const userProperties: UserProperties = [['stream-offset', 'latest']];
    await door.subscribe(reader, TOPIC, 0, { properties: { userProperties } });
    expect(reader.take()).toMatchObject([
      {
        type: 'suback',
        reasonCodes: [ReasonCode.QuotaExceeded],
        properties: { reasonString: expect.stringContaining('subscribe again') },
      },
    ]);
  });
});
