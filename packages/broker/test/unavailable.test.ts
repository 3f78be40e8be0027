import { type Packet, type ProtocolVersion, ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { type QueueStore, type Stores, Unavailable } from '../src/index.ts';
import { FakeDoor, type FakeLink } from './support/fake-door.ts';

class Throttled extends Unavailable {
  override readonly name = 'Throttled';
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

type Port = keyof Stores;

/** A door whose stores fail where the test says so, once. */
class ThrottledDoor {
  readonly door: FakeDoor;
  #failing: string | undefined;

  constructor() {
    this.door = new FakeDoor({ isAsync: true, wrap: (stores) => this.#wrapped(stores) });
  }

  /** The next such call fails before it has an effect; the next `offer` may have served some of its recipients. */
  fail(call: string): void {
    this.#failing = call;
  }

  #takes(call: string): boolean {
    if (this.#failing !== call) return false;
    this.#failing = undefined;
    return true;
  }

  #wrapped(stores: Stores): Stores {
    const wrapped = { ...stores };
    for (const port of Object.keys(stores) as Port[])
      Object.assign(wrapped, { [port]: this.#port(stores, port) });
    return wrapped;
  }

  #port(stores: Stores, port: Port): object {
    return new Proxy(stores[port], {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]): unknown => {
          const call = `${port}.${String(name)}`;
          if (this.#takes(call)) throw new Throttled('throttled');
          if (call === 'queues.offer' && this.#takes('half an offer')) this.#offerOne(stores.queues, args);
          return method.apply(target, args);
        };
      },
    });
  }

  #offerOne(queues: QueueStore, args: unknown[]): never {
    const [message, deliveries, limits] = args as Parameters<QueueStore['offer']>;
    queues.offer(message, deliveries.slice(0, 1), limits);
    throw new Throttled('throttled');
  }
}

const payloadsOf = (packets: readonly Packet[]) =>
  packets.flatMap((packet) => (packet.type === 'publish' ? [Buffer.from(packet.payload).toString()] : []));

describe('a PUBLISH that meets a store that is unavailable', () => {
  const begin = async (protocolVersion: ProtocolVersion = 5) => {
    const stores = new ThrottledDoor();
    const { door } = stores;
    const subscribe = async (clientId: string) => {
      const link = await door.connect({ clientId });
      await door.subscribe(link, 'a', 2);
      link.take();
      return link;
    };
    const subscribers = [await subscribe('one'), await subscribe('two')] as const;
    const connect = async () => {
      const properties = protocolVersion === 5 ? { sessionExpiryInterval: 600 } : {};
      const link = await door.connect({ clientId: 'p', cleanStart: false, protocolVersion, properties });
      link.take();
      return link;
    };
    return { stores, door, subscribers, connect, publisher: await connect() };
  };

  const expectEnd = (link: FakeLink) => {
    expect(link.take()).toMatchObject([{ type: 'disconnect', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(link.isOpen).toBe(false);
  };

  it.each([
    { qos: 1, answer: 'puback', call: 'subscriptions.match' },
    { qos: 2, answer: 'pubrec', call: 'subscriptions.match' },
    { qos: 2, answer: 'pubrec', call: 'received.begin' },
  ] as const)(
    'is refused at QoS $qos where $call fails, before any effect',
    async ({ qos, answer, call }) => {
      const { stores, door, subscribers, publisher } = await begin();
      stores.fail(call);
      await door.publish(publisher, 'a', 'refused', { qos, packetId: 7 });
      expect(publisher.take()).toMatchObject([
        { type: answer, packetId: 7, reasonCode: ReasonCode.QuotaExceeded },
      ]);
      await door.publish(publisher, 'a', 'next', { qos, packetId: 7 });
      expect(publisher.take()).toMatchObject([{ type: answer, packetId: 7, reasonCode: 0 }]);
      expect(publisher.isOpen).toBe(true);
      for (const subscriber of subscribers) expect(payloadsOf(subscriber.take())).toEqual(['next']);
    },
  );

  it('is not refused where a recipient has it in flight: the publisher sends it again, before newer messages', async () => {
    const { stores, door, subscribers, connect, publisher } = await begin();
    stores.fail('half an offer');
    await door.publish(publisher, 'a', '5', { qos: 1, packetId: 5 });
    expectEnd(publisher);
    const again = await connect();
    await door.publish(again, 'a', '5', { qos: 1, packetId: 5, dup: true });
    await door.publish(again, 'a', '6', { qos: 1, packetId: 6 });
    expect(again.take()).toMatchObject([
      { type: 'puback', packetId: 5, reasonCode: 0 },
      { type: 'puback', packetId: 6, reasonCode: 0 },
    ]);
    for (const subscriber of subscribers) expect(payloadsOf(subscriber.take())).toEqual(['5', '6']);
  });

  it.each([
    { call: 'retained.put', fields: { qos: 1, retain: true } },
    { call: 'subscriptions.match', fields: { qos: 1, retain: true } },
    { call: 'queues.offer', fields: { qos: 1 } },
    { call: 'queues.offer', fields: { qos: 2 } },
    { call: 'received.markDelivered', fields: { qos: 2 } },
  ] as const)('is not refused where $call fails: it has been begun', async ({ call, fields }) => {
    const { stores, door, publisher } = await begin();
    stores.fail(call);
    await door.publish(publisher, 'a', 'x', fields);
    expectEnd(publisher);
  });

  it('ends the connection in MQTT 3.1.1, which cannot say so', async () => {
    const { stores, door, publisher } = await begin(4);
    stores.fail('subscriptions.match');
    await door.publish(publisher, 'a', 'x', { qos: 1 });
    expect(publisher.take()).toEqual([]);
    expect(publisher.isOpen).toBe(false);
  });

  it('is dropped at QoS 0', async () => {
    const { stores, door, publisher } = await begin();
    stores.fail('retained.put');
    await door.publish(publisher, 'a', 'x', { retain: true });
    expect(publisher.take()).toEqual([]);
    expect(publisher.isOpen).toBe(true);
  });

  it.each([
    { qos: 1, dup: true },
    { qos: 1, dup: false },
    { qos: 2, dup: true },
    { qos: 2, dup: false },
  ] as const)(
    'is not refused at QoS $qos, DUP $dup, where it may be a repetition: the client repeats it until it is accepted',
    async ({ qos, dup }) => {
      const { stores, door, subscribers, connect, publisher } = await begin();
      stores.fail('queues.offer');
      await door.publish(publisher, 'a', 'x', { qos });
      expectEnd(publisher);
      const second = await connect();
      stores.fail('subscriptions.match');
      await door.publish(second, 'a', 'x', { qos, dup });
      expectEnd(second);
      const third = await connect();
      await door.publish(third, 'a', 'x', { qos, dup });
      expect(third.take()).toMatchObject([{ type: qos === 1 ? 'puback' : 'pubrec', reasonCode: 0 }]);
      for (const subscriber of subscribers) expect(payloadsOf(subscriber.take())).toEqual(['x']);
    },
  );

  it('keeps the receipt of a QoS 2 message that is pending, however late it comes again', async () => {
    const { stores, door, subscribers, connect, publisher } = await begin();
    stores.fail('queues.offer');
    await door.publish(publisher, 'a', 'x', { qos: 2 });
    const second = await connect();
    door.nowMs += 60_000;
    stores.fail('subscriptions.match');
    await door.publish(second, 'a', 'x', { qos: 2 });
    expectEnd(second);
    await door.publish(await connect(), 'a', 'x', { qos: 2 });
    for (const subscriber of subscribers) expect(payloadsOf(subscriber.take())).toEqual(['x']);
  });

  it('is refused again on a session that was resumed a while ago', async () => {
    const { stores, door, connect, publisher } = await begin();
    await door.cut(publisher);
    const second = await connect();
    door.nowMs += 60_000;
    stores.fail('subscriptions.match');
    await door.publish(second, 'a', 'x', { qos: 1 });
    expect(second.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    expect(second.isOpen).toBe(true);
  });
});
