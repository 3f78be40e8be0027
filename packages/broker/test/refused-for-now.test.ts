import { type ProtocolVersion, ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import type { DeliveryQuota, FanOut, Message, Stores } from '../src/index.ts';
import { FakeDoor } from './support/fake-door.ts';

const LASTING = { clientId: 'publisher', cleanStart: false, properties: { sessionExpiryInterval: 60 } };

/** A quota with one outcome for each message: the handler dies, the quota is exceeded, or it takes the message. */
function quotaOf(...turns: readonly ('dies' | 'exceeded' | 'taken')[]): DeliveryQuota {
  const left = [...turns];
  return {
    take() {
      const turn = left.shift();
      if (turn === 'dies') throw new Error('the handler died');
      return turn === 'taken';
    },
  };
}

describe('a PUBLISH that a limit refuses for now', () => {
  const publishTo = async (
    deliveryQuota: DeliveryQuota,
    protocolVersion: ProtocolVersion = 5,
    endsRefusedRepetitions = false,
  ) => {
    const door = new FakeDoor({ deliveryQuota, endsRefusedRepetitions });
    const subscriber = await door.connect({ clientId: 'subscriber' });
    await door.subscribe(subscriber, 'a', 2);
    subscriber.take();
    const connect = async () => {
      const link = await door.connect({ ...LASTING, protocolVersion });
      link.take();
      return link;
    };
    return { door, subscriber, connect, publisher: await connect() };
  };

  it.each([
    [1, 'puback'],
    [2, 'pubrec'],
  ] as const)('is refused at QoS %i by %s, and the client gives it up', async (qos, type) => {
    const { door, subscriber, publisher } = await publishTo(quotaOf('exceeded'));
    await door.publish(publisher, 'a', 'x', { qos });
    expect(publisher.take()).toMatchObject([{ type, reasonCode: ReasonCode.QuotaExceeded }]);
    expect(publisher.isOpen).toBe(true);
    expect(subscriber.take()).toEqual([]);
  });

  it('ends the connection in MQTT 3.1.1, which cannot say so', async () => {
    const { door, publisher } = await publishTo(quotaOf('exceeded'), 4);
    await door.publish(publisher, 'a', 'x', { qos: 1 });
    expect(publisher.take()).toEqual([]);
    expect(publisher.isOpen).toBe(false);
  });

  it.each([
    [1, true],
    [1, false],
    [2, true],
    [2, false],
  ] as const)(
    'is not refused for good at QoS %i, DUP %s, where copies of it may be inflight unsent: the client repeats it until it is accepted',
    async (qos, dup) => {
      const quota = quotaOf('dies', 'exceeded', 'taken');
      const { door, subscriber, publisher, connect } = await publishTo(quota, 5, true);
      await expect(door.publish(publisher, 'a', 'x', { qos })).rejects.toThrow('died');
      await door.cut(publisher);
      const second = await connect();
      await door.publish(second, 'a', 'x', { qos, dup });
      expect(second.take()).toMatchObject([{ type: 'disconnect', reasonCode: ReasonCode.QuotaExceeded }]);
      expect(second.isOpen).toBe(false);
      await door.cut(second);
      const third = await connect();
      await door.publish(third, 'a', 'x', { qos, dup });
      expect(third.take()).toMatchObject([{ type: qos === 1 ? 'puback' : 'pubrec', reasonCode: 0 }]);
      expect(subscriber.take()).toMatchObject([{ type: 'publish', topic: 'a', qos }]);
    },
  );

  it.each([
    [1, 'puback'],
    [2, 'pubrec'],
  ] as const)(
    'is refused at QoS %i where it may be a repetition, and the client goes on; after that its packet id is that of a new message [MQTT-4.3.3-9]',
    async (qos, type) => {
      const quota = quotaOf('dies', 'exceeded', 'exceeded', 'taken');
      const { door, subscriber, publisher, connect } = await publishTo(quota);
      await expect(door.publish(publisher, 'a', 'x', { qos })).rejects.toThrow('died');
      await door.cut(publisher);
      const second = await connect();
      for (const payload of ['x', 'y']) {
        await door.publish(second, 'a', payload, { qos, dup: payload === 'x' });
        expect(second.take()).toMatchObject([{ type, reasonCode: ReasonCode.QuotaExceeded }]);
      }
      expect(second.isOpen).toBe(true);
      await door.publish(second, 'a', 'z', { qos });
      expect(second.take()).toMatchObject([{ type, reasonCode: 0 }]);
      expect(subscriber.take()).toMatchObject([{ type: 'publish', payload: Buffer.from('z') }]);
    },
  );

  it('is answered with its reason code where the session was resumed a while ago: the client has finished its retransmissions', async () => {
    const { door, publisher, connect } = await publishTo(quotaOf('exceeded'), 5, true);
    await door.cut(publisher);
    const second = await connect();
    door.nowMs += 60_000;
    await door.publish(second, 'a', 'x', { qos: 1 });
    expect(second.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(second.isOpen).toBe(true);
  });
});

/** Another process has subscribers of everything, and has room for the messages or not. */
function otherProcess(...turns: readonly boolean[]) {
  const left = [...turns];
  const handed: Message[] = [];
  const fanOut: FanOut = {
    accept: (message) => handed.push(message) > 0,
    hasRoom: () => true,
    take: (message) => void handed.push(message),
    confirmed: () => Promise.resolve(left.shift() ?? true),
  };
  const wrap = (stores: Stores): Stores => {
    const { subscriptions } = stores;
    const match = (...call: Parameters<typeof subscriptions.match>) => [
      ...(subscriptions.match(...call) as []),
      { topicFilter: '#', subscribers: [], shards: 1 },
    ];
    const wrapped = new Proxy(subscriptions, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown;
        if (name === 'match') return match;
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
    return { ...stores, subscriptions: wrapped };
  };
  return { fanOut, wrap, handed };
}

describe('a PUBLISH that another process has had no room for', () => {
  const publishTo = async (...turns: readonly boolean[]) => {
    const other = otherProcess(...turns);
    const door = new FakeDoor({ fanOut: other.fanOut, wrap: other.wrap });
    const subscriber = await door.connect({ clientId: 'subscriber' });
    await door.subscribe(subscriber, 'a', 2);
    subscriber.take();
    const connect = async (protocolVersion: ProtocolVersion = 5) => {
      const link = await door.connect({ ...LASTING, protocolVersion });
      link.take();
      return link;
    };
    return { ...other, door, subscriber, connect };
  };

  it.each([
    [1, 'puback'],
    [2, 'pubrec'],
  ] as const)('is refused at QoS %i by %s, and its publisher goes on', async (qos, type) => {
    const { door, connect } = await publishTo(false, true);
    const publisher = await connect();
    await door.publish(publisher, 'a', 'x', { qos });
    expect(publisher.take()).toMatchObject([{ type, reasonCode: ReasonCode.QuotaExceeded }]);
    expect(publisher.isOpen).toBe(true);
    await door.publish(publisher, 'b', 'y', { qos });
    expect(publisher.take()).toMatchObject([{ type, reasonCode: 0 }]);
  });

  it('ends the connection in MQTT 3.1.1, whose client sends it again', async () => {
    const { door, connect } = await publishTo(false);
    const publisher = await connect(4);
    await door.publish(publisher, 'a', 'x', { qos: 1 });
    expect(publisher.take()).toEqual([]);
    expect(publisher.isOpen).toBe(false);
  });

  it.each([
    ['MQTT 3.1.1, which cannot say so', 4, async () => {}],
    ['a client that was cut meanwhile', 5, async (cut: () => Promise<void>) => await cut()],
  ] as const)(
    'at QoS 2 from %s, comes again under the same id on the next connection, as others have it [MQTT-4.3.3-10]',
    async (_, version, meanwhile) => {
      const { door, connect, subscriber, handed } = await publishTo(false, true);
      const first = await connect(version);
      const publishing = door.publish(first, 'a', 'x', { qos: 2 });
      await meanwhile(async () => await door.cut(first));
      await publishing;
      expect(first.isOpen).toBe(false);
      await door.cut(first);
      const second = await connect(version);
      await door.publish(second, 'a', 'x', { qos: 2, dup: true });
      expect(second.take()).toMatchObject([{ type: 'pubrec', reasonCode: 0 }]);
      expect(new Set(handed.map(({ id }) => id)).size).toBe(1);
      expect(subscriber.take().length).toBe(1);
    },
  );

  it('from a caller over HTTP is refused at each QoS', async () => {
    const { door } = await publishTo(false);
    const request = {
      tenant: 'default',
      topic: 'a',
      payload: Buffer.from('x'),
      qos: 2,
      retain: false,
    } as const;
    const answer = await door.broker.publish({ ...request, properties: {} });
    expect(answer).toMatchObject({ reasonCode: ReasonCode.QuotaExceeded });
  });
});
