import { describe, expect, it } from 'vitest';
import { KEPT_PACKET_ID_MAX } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { copyOf, deliveryTo, type MakeStores, NOW_MS, ROOMY, summary } from './support.ts';

/** Messages that may be sent at once, and messages that wait. */
export function queueOfferContract(makeStores: MakeStores): void {
  describe('offer', () => {
    it('lets a message go at once while the window has room, each with its own id [MQTT-4.3.2-1]', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const ids = (await client.offerAll(['a', 'b', 'c'])).map(({ packetId }) => packetId);
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) {
        expect(id).toBeGreaterThanOrEqual(1);
        expect(id).toBeLessThanOrEqual(KEPT_PACKET_ID_MAX);
      }
      expect(await client.length()).toBe(0);
      expect(await client.dequeued()).toEqual([]);
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
      expect(await held.dequeued()).toEqual(['all']);
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
}
