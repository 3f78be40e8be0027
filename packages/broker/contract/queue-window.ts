import { describe, expect, it } from 'vitest';
import { QueueClient, ROOMY } from './queue-support.ts';
import { copyOf, deliveryTo, type MakeStores, NOW_MS, summary } from './support.ts';

/** What may be sent at once, what waits, and how acknowledgements make room. */
export function queueWindowContract(makeStores: MakeStores): void {
  describe('offer', () => {
    it('lets a message go at once while the window has room, each with its own id [MQTT-4.3.2-1]', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const ids = (await client.offerAll(['a', 'b', 'c'])).map(({ packetId }) => packetId);
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) {
        expect(id).toBeGreaterThanOrEqual(1);
        expect(id).toBeLessThanOrEqual(65_535);
      }
      expect(await client.length()).toBe(0);
      expect(await client.drawn()).toEqual([]);
    });

    it('lets a message wait once the window is full [MQTT-3.3.4-9] [MQTT-4.9.0-2]', async () => {
      const client = await QueueClient.make(makeStores, 2);
      const deliveries = await client.offerAll(['a', 'b', 'c', 'd']);
      expect(deliveries.map(({ packetId }) => packetId > 0)).toEqual([true, true, false, false]);
      expect(await client.length()).toBe(2);
      expect(await client.drawn()).toEqual([]);
    });

    it('lets a message wait behind one that waits, although the window has room [MQTT-4.6.0-5]', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const [first] = await client.offerAll(['a', 'b']);
      await client.complete(first?.packetId ?? 0);
      expect((await client.offer('c')).packetId).toBe(0);
      expect(await client.drawn()).toEqual(['b']);
      expect(await client.length()).toBe(1);
    });

    it('lets a message wait that is held', async () => {
      const client = await QueueClient.make(makeStores);
      expect((await client.offer('a', { isHeld: true })).packetId).toBe(0);
      expect((await client.offer('b')).packetId).toBe(0);
      expect(await client.drawn()).toEqual(['a', 'b']);
    });

    it('lets a message wait while the session is offline [MQTT-4.1.0-1]', async () => {
      const client = await QueueClient.make(makeStores);
      await client.lose();
      expect((await client.offer('a')).packetId).toBe(0);
      expect(await client.length()).toBe(1);
      expect(await client.drawn()).toEqual([]);
    });

    it('serves many sessions in one call, each by its own window', async () => {
      const free = await QueueClient.make(makeStores, 1);
      const full = await QueueClient.beside(free, 1);
      const held = await QueueClient.beside(free, 1);
      const offline = await QueueClient.beside(free);
      await full.offer('before');
      await offline.lose();
      const clients = [free, full, held, offline];
      const deliveries = await Promise.all(clients.map(async (each) => deliveryTo(await each.session())));
      const hold = new Set(deliveries.slice(2, 3));
      expect(await free.stores.queues.offer(free.message('all'), deliveries, ROOMY, hold)).toBe(0);
      expect(deliveries.map(({ packetId }) => packetId > 0)).toEqual([true, false, false, false]);
      expect(await Promise.all(clients.map((each) => each.length()))).toEqual([0, 1, 1, 1]);
      expect(await held.drawn()).toEqual(['all']);
    });

    it('takes two deliveries for one session', async () => {
      const client = await QueueClient.make(makeStores);
      const session = await client.session();
      const deliveries = [
        deliveryTo(session, { subscriptionIdentifiers: [1] }),
        deliveryTo(session, { subscriptionIdentifiers: [2] }),
      ];
      await client.stores.queues.offer(client.message('a'), deliveries, ROOMY);
      const [one, other] = deliveries.map(({ packetId }) => packetId);
      expect(one).toBeGreaterThan(0);
      expect(other).toBeGreaterThan(0);
      expect(one).not.toBe(other);
    });

    it('takes a copy of the ref', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const session = copyOf(await client.session());
      const { queues } = client.stores;
      const [first, second] = [deliveryTo(session), deliveryTo(session)];
      await queues.offer(client.message('a'), [first], ROOMY);
      await queues.offer(client.message('b'), [second], ROOMY);
      expect([first.packetId > 0, second.packetId > 0]).toEqual([true, false]);
      expect(await client.length()).toBe(1);
      expect(await queues.complete(session, first.packetId)).toBe('done');
      expect(summary(await queues.next(session, { messages: 10, bytes: 1000 }, NOW_MS))).toEqual(['b']);
    });

    it('keeps everything of the message and of the delivery', async () => {
      const client = await QueueClient.make(makeStores);
      const message = client.message('a', {
        topic: 'x/y',
        qos: 2,
        retain: true,
        properties: {
          responseTopic: 'r',
          correlationData: Buffer.from([1, 2]),
          userProperties: [['k', 'v']],
        },
        expiresAtMs: NOW_MS + 1,
        publisherKey: 'publisher',
      });
      const share = { shareGroup: 'g', topicFilter: 'x/+' };
      const delivery = deliveryTo(await client.session(), {
        qos: 2,
        retain: true,
        subscriptionIdentifiers: [1, 2],
        share,
      });
      await client.stores.queues.offer(message, [delivery], ROOMY, new Set([delivery]));
      const [queued] = await client.next();
      if (queued?.type !== 'publish') throw new Error(`expected a message, got ${queued?.type}`);
      expect({ ...queued.message, payload: Buffer.from(queued.message.payload) }).toMatchObject(message);
      expect(queued.delivery).toMatchObject({
        qos: 2,
        retain: true,
        subscriptionIdentifiers: [1, 2],
        share,
        dup: false,
      });
      expect(queued.delivery.packetId).toBeGreaterThan(0);
      expect(copyOf(queued.delivery.session)).toEqual(copyOf(await client.session()));
    });
  });

  describe('next', () => {
    it('draws what waits in its order, as far as the window goes [MQTT-4.6.0-5]', async () => {
      const client = await QueueClient.make(makeStores, 2);
      const [first, second] = await client.offerAll(['a', 'b', 'c', 'd', 'e']);
      await client.complete(second?.packetId ?? 0);
      expect(await client.drawn()).toEqual(['c']);
      expect(await client.drawn()).toEqual([]);
      await client.complete(first?.packetId ?? 0);
      expect(await client.drawn()).toEqual(['d']);
      expect(await client.length()).toBe(1);
    });

    it('draws at most as many as it was asked for', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offerAll(['a', 'b', 'c', 'd', 'e'], { isHeld: true });
      expect(await client.drawn(2)).toEqual(['a', 'b']);
      expect(await client.length()).toBe(3);
      expect(await client.drawn(2)).toEqual(['c', 'd']);
      expect(await client.drawn(2)).toEqual(['e']);
    });

    it('skips and forgets what expired while it waited [MQTT-3.3.2-5]', async () => {
      const client = await QueueClient.make(makeStores, 2);
      await client.offer('a', { isHeld: true, expiresAtMs: NOW_MS + 10 });
      await client.offer('b', { isHeld: true });
      await client.offer('c', { isHeld: true, expiresAtMs: NOW_MS + 11 });
      await client.offer('d', { isHeld: true });
      expect(await client.drawn(100, NOW_MS + 10)).toEqual(['b', 'c']);
      expect(await client.length()).toBe(1);
    });

    it('finds nothing where nothing was ever offered', async () => {
      const client = await QueueClient.make(makeStores);
      expect(await client.drawn()).toEqual([]);
      expect(await client.length()).toBe(0);
    });
  });

  describe('complete', () => {
    it('makes room in the window', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const [first] = await client.offerAll(['a', 'b']);
      expect(await client.complete(first?.packetId ?? 0)).toBe(true);
      expect(await client.drawn()).toEqual(['b']);
    });

    it('does not know an id that was never given, or is done with', async () => {
      const client = await QueueClient.make(makeStores, 2);
      const { packetId } = await client.offer('a');
      expect(await client.complete((packetId % 65_535) + 1)).toBe(false);
      expect(await client.complete(packetId)).toBe(true);
      expect(await client.complete(packetId)).toBe(false);
      // The window did not grow by acknowledgements that named nothing.
      const ids = (await client.offerAll(['b', 'c', 'd'])).map((each) => each.packetId);
      expect(ids.filter((id) => id > 0)).toHaveLength(2);
    });

    it('of a session that was never offered anything is not known', async () => {
      const client = await QueueClient.make(makeStores);
      expect(await client.complete(1)).toBe(false);
      expect(await client.release(1)).toBe(false);
    });

    it('never leads to an id that is in use [MQTT-2.2.1-4]', async () => {
      const client = await QueueClient.make(makeStores, 5);
      const { packetId: slow } = await client.offer('slow');
      for (let count = 0; count < 300; count += 1) {
        const { packetId } = await client.offer(`${count}`);
        expect(packetId).toBeGreaterThan(0);
        expect(packetId).not.toBe(slow);
        await client.complete(packetId);
      }
    });
  });

  describe('release', () => {
    it('keeps the place in the window until PUBCOMP [MQTT-4.3.3-5]', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const { packetId } = await client.offer('a', { qos: 2 });
      await client.offer('b', { qos: 2 });
      expect(await client.release(packetId)).toBe(true);
      expect(await client.drawn()).toEqual([]);
      expect(await client.complete(packetId)).toBe(true);
      expect(await client.drawn()).toEqual(['b']);
    });

    it('keeps the id in use [MQTT-4.3.3-1]', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const { packetId: released } = await client.offer('a', { qos: 2 });
      await client.release(released);
      for (let count = 0; count < 10; count += 1) {
        const { packetId } = await client.offer(`${count}`);
        expect(packetId).not.toBe(released);
        await client.complete(packetId);
      }
    });

    it('answers true again when PUBREC comes again, and false once it is complete', async () => {
      const client = await QueueClient.make(makeStores);
      const { packetId } = await client.offer('a', { qos: 2 });
      expect(await client.release(packetId)).toBe(true);
      expect(await client.release(packetId)).toBe(true);
      await client.complete(packetId);
      expect(await client.release(packetId)).toBe(false);
    });

    it('does not take a QoS 1 message for released', async () => {
      const client = await QueueClient.make(makeStores);
      const { packetId } = await client.offer('a', { qos: 1 });
      expect(await client.release(packetId)).toBe(false);
      await client.lose();
      await client.resume();
      expect(await client.drawn()).toEqual(['a+']);
    });
  });

  it('length counts what waits, not what is inflight', async () => {
    const client = await QueueClient.make(makeStores, 2);
    await client.offerAll(['a', 'b', 'c']);
    expect(await client.length()).toBe(1);
    await client.lose();
    expect(await client.length()).toBe(1);
    await client.resume(2);
    expect(await client.length()).toBe(1);
    expect(await client.drawn()).toEqual(['a+', 'b+']);
    expect(await client.length()).toBe(1);
  });
}
