import { type Packet, type ProtocolVersion, ReasonCode } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import { describe, expect, it, vi } from 'vitest';
import {
  type Authorizer,
  type FanOut,
  PUBLISHES_UNDER_WAY_BYTES,
  PUBLISHES_UNDER_WAY_MAX,
  PublishOrder,
  readStreams,
  type Stores,
  type StreamFeed,
  type StreamStore,
} from '../src/index.ts';
import { FakeDoor, type FakeDoorOptions, type FakeLink } from './support/fake-door.ts';

const declared = readStreams([{ name: 's', topicFilter: 's/#' }], 'streams');

type Append = StreamStore['append'];
type Answer = 'appended' | 'full' | 'failed';

/** A publisher at a door of several processes. The store answers when the test lets it. */
async function stage(authorizer?: Authorizer) {
  const inner = new MemoryStreams();
  const asked: { readonly text: string; answer(answer: Answer): Promise<void> }[] = [];
  const append: Append = (tenant, stream, message, options) =>
    new Promise((resolve, reject) => {
      const appended = inner.append(tenant, stream, message, options);
      asked.push({
        text: Buffer.from(message.payload).toString(),
        answer: async (answer) => {
          if (answer === 'failed') reject(new Error('the engine is gone'));
          else resolve(answer === 'full' ? 'full' : appended);
          await turns();
        },
      });
    });
  const store = Object.assign(Object.create(inner) as StreamStore, { append });
  const streams = { declared, store, isShared: true, feed: undefined as unknown as StreamFeed };
  const door = new FakeDoor({ streams, ...(authorizer && { authorizer }) });
  const publisher = await door.connect();
  const subscriber = await door.connect();
  await door.subscribe(subscriber, '+/+', 1);
  return { asked, ...publishing(door, publisher, subscriber) };
}

function publishing(door: FakeDoor, link: FakeLink, subscriber: FakeLink) {
  const goOn = vi.fn();
  Object.assign(link, { publishOrder: new PublishOrder(), goOn });
  for (const each of [link, subscriber]) each.take();
  let packetId = 0;
  const failures: string[] = [];
  const publish = (topic: string): void => {
    packetId += 1;
    const text = String(packetId);
    door
      .publish(link, topic, text, { qos: 1, packetId })
      .catch((error: Error) => failures.push(error.message));
  };
  const answered = () => link.take().flatMap((packet) => ('packetId' in packet ? packet.packetId : []));
  const received = () =>
    subscriber
      .take()
      .flatMap((packet: Packet) => (packet.type === 'publish' ? Buffer.from(packet.payload).toString() : []));
  return { publish, answered, received, goOn, link, failures };
}

const NO_FAN_OUT: FanOut = { take: () => {}, isTaken: () => true } as unknown as FanOut;

/** A publisher at a door whose queues keep a message at once, and have it on their disk when the test lets them. */
async function queueStage(protocolVersion: ProtocolVersion, ports: Pick<FakeDoorOptions, 'fanOut'>) {
  const asked: { readonly text: string; answer(): Promise<void> }[] = [];
  const wrap = (stores: Stores): Stores => {
    const offer: Stores['queues']['offer'] = (...call) => {
      const dropped = stores.queues.offer(...call);
      return new Promise((resolve) => {
        const answer = () => {
          resolve(dropped);
          return turns();
        };
        asked.push({ text: Buffer.from(call[0].payload).toString(), answer });
      });
    };
    return { ...stores, queues: Object.assign(Object.create(stores.queues), { offer }) };
  };
  const door = new FakeDoor({ wrap, ...ports });
  const publisher = await door.connect({ protocolVersion });
  const subscriber = await door.connect();
  await door.subscribe(subscriber, 'q/a', 1);
  await door.subscribe(subscriber, 'q/now', 0);
  return { door, asked, ...publishing(door, publisher, subscriber) };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('messages of a client that are accepted at the same time', () => {
  it('are appended at once, and reach subscribers and are answered in order [MQTT-4.6.0-6]', async () => {
    const { asked, publish, answered, received, goOn } = await stage();
    for (const topic of ['s/a', 's/a', 'p/a', 's/b']) publish(topic);
    await turns();
    expect(asked.map(({ text }) => text)).toEqual(['1', '2', '4']);
    expect(goOn).toHaveBeenCalledTimes(3);
    await asked[2]?.answer('appended');
    await asked[1]?.answer('appended');
    expect([received(), answered()]).toEqual([[], []]);
    await asked[0]?.answer('appended');
    expect(received()).toEqual(['1', '2', '3', '4']);
    expect(answered()).toEqual([1, 2, 3, 4]);
  });

  it('are answered in order where one is refused', async () => {
    const { asked, publish, link, received } = await stage();
    for (const topic of ['s/a', 's/a', 'p/+']) publish(topic === 'p/+' ? 'p/a' : topic);
    await turns();
    await asked[1]?.answer('appended');
    await asked[0]?.answer('full');
    expect(link.take()).toMatchObject([
      { packetId: 1, reasonCode: ReasonCode.QuotaExceeded },
      { packetId: 2, reasonCode: ReasonCode.Success },
      { packetId: 3, reasonCode: ReasonCode.Success },
    ]);
    expect(received()).toEqual(['2', '3']);
  });

  it('are not answered behind one that has failed: its client sends all of them again', async () => {
    const { asked, publish, answered, failures } = await stage();
    for (const topic of ['s/a', 's/a']) publish(topic);
    await turns();
    await asked[1]?.answer('appended');
    await asked[0]?.answer('failed');
    expect(failures).toEqual(['the engine is gone']);
    publish('p/a');
    await turns();
    expect(answered()).toEqual([]);
  });

  it('do not overtake one that has failed while a hook was asked about them', async () => {
    const allowed: ((may: boolean) => void)[] = [];
    const mayPublish = () => new Promise<boolean>((resolve) => allowed.push(resolve));
    const { asked, publish, received, failures } = await stage({ mayPublish, maySubscribe: () => true });
    for (const topic of ['s/a', 's/b', 's/a', 'p/a']) publish(topic);
    for (const allow of allowed.slice(0, 2)) allow(true);
    await turns();
    await asked[0]?.answer('failed');
    for (const allow of allowed) allow(true);
    await turns();
    expect([asked.map(({ text }) => text), received()]).toEqual([['1', '2'], []]);
    expect(failures).toHaveLength(3);
  });

  it.each([
    ['MQTT 5.0', 5, {}, 3],
    ['MQTT 3.1.1', 4, {}, 3],
    ['MQTT 3.1.1, where other processes may refuse late', 4, { fanOut: NO_FAN_OUT }, 0],
  ] as const)('are offered to queues at once, and sent in order [MQTT-4.6.0-6]: %s', async (...row) => {
    const [, protocolVersion, ports, times] = row;
    const { asked, publish, answered, received, goOn } = await queueStage(protocolVersion, ports);
    for (const topic of ['q/a', 'q/now', 'q/a']) publish(topic);
    await turns();
    expect(asked.map(({ text }) => text)).toEqual(['1', '3']);
    expect(goOn).toHaveBeenCalledTimes(times);
    if (times === 0) return;
    await asked[1]?.answer();
    expect([received(), answered()]).toEqual([[], []]);
    await asked[0]?.answer();
    expect(received()).toEqual(['1', '2', '3']);
    expect(answered()).toEqual([1, 2, 3]);
  });

  it('stay behind those before one that nobody here is to get', async () => {
    const { door, link, asked, publish, received, answered } = await queueStage(5, {});
    const own = {
      topicFilter: 'q/own',
      qos: 1,
      noLocal: true,
      retainAsPublished: false,
      retainHandling: 0,
    } as const;
    await door.subscribe(link, 'q/own', 1, { subscriptions: [own] });
    link.take();
    for (const topic of ['q/a', 'q/own', 'q/now']) publish(topic);
    await turns();
    expect([received(), answered()]).toEqual([[], []]);
    await asked[0]?.answer();
    expect([received(), answered()]).toEqual([
      ['1', '3'],
      [1, 2, 3],
    ]);
  });

  it.each([
    ['messages', PUBLISHES_UNDER_WAY_MAX, 1],
    ['bytes', 2, PUBLISHES_UNDER_WAY_BYTES / 2],
  ])('have a limit: %s', (_what, count, bytes) => {
    const order = new PublishOrder();
    const goOn = vi.fn();
    const entered = Array.from({ length: count }, () => {
      const each = order.enter(bytes, { handedOn: goOn });
      each.handedOn();
      return each;
    });
    expect(goOn).toHaveBeenCalledTimes(count - 1);
    entered[0]?.end(true);
    expect(goOn).toHaveBeenCalledTimes(count);
  });
});
