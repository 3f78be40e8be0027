import { describe, expect, it } from 'vitest';
import type { Queued } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { copyOf, deliveryTo, type MakeStores, NOW_MS, ROOMY } from './support.ts';

/** The packets that a new connection of a session is sent. */
export function queueResendContract(makeStores: MakeStores): void {
  const idsOf = (queued: readonly Queued[]) =>
    queued.map((each) => (each.type === 'publish' ? each.delivery.packetId : each.packetId));

  describe('a session that continues', () => {
    it('sends inflight messages again, in their old order, before waiting ones [MQTT-4.4.0-1]', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const ids = (await client.offerAll(['a', 'b', 'c', 'd'])).map(({ packetId }) => packetId);
      await client.lose();
      await client.offer('e');
      await client.resume(10);
      const queued = await client.next();
      expect(idsOf(queued).slice(0, 3)).toEqual(ids.slice(0, 3));
      // None of these calls sends anything twice.
      expect(await client.dequeued()).toEqual([]);
    });

    it('sends inflight messages to its new connection, also those offered under a copy of its ref', async () => {
      const client = await QueueClient.make(makeStores);
      const delivery = deliveryTo(copyOf(await client.session()));
      await client.stores.queues.offer(client.message('a'), [delivery], ROOMY);
      await client.lose();
      await client.resume();
      const [queued] = await client.next();
      const { attachment } = await client.session();
      expect(attachment).toBeDefined();
      expect(queued).toMatchObject({ delivery: { packetId: delivery.packetId, session: { attachment } } });
    });

    it('does nothing for a session that was sent nothing', async () => {
      const client = await QueueClient.make(makeStores);
      await client.lose();
      await client.resume();
      expect(await client.dequeued()).toEqual([]);
    });

    it('after a take-over too', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offer('a');
      await client.resume();
      expect(await client.dequeued()).toEqual(['a+']);
    });

    it('sends a message again although it has expired [MQTT-4.3.3-7]', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offer('a', { qos: 2, expiresAtMs: NOW_MS + 10 });
      await client.offer('b', { isHeld: true, expiresAtMs: NOW_MS + 10 });
      await client.lose();
      await client.resume();
      expect(await client.dequeued(100, NOW_MS + 20)).toEqual(['a+']);
    });
  });

  describe('the window of a new connection', () => {
    it('is not made larger by an acknowledgement that comes before its message is sent again', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const [first] = await client.offerAll(['a', 'b', 'c']);
      await client.lose();
      await client.resume(1);
      const isKnown = await client.complete(first?.packetId ?? 0);
      expect(await client.dequeued()).toEqual([isKnown ? 'b+' : 'a+']);
      expect(await client.dequeued()).toEqual([]);
    });
  });

  describe('a QoS 2 message whose PUBREC came', () => {
    it('is not sent again; its PUBREL is [MQTT-4.3.3-6]', async () => {
      const client = await QueueClient.make(makeStores);
      const { packetId } = await client.offer('a', { qos: 2 });
      await client.release(packetId);
      await client.lose();
      await client.resume();
      expect(await client.next()).toEqual([{ type: 'pubrel', packetId }]);
      expect(await client.dequeued()).toEqual([]);
      expect(await client.complete(packetId)).toBe(true);
      await client.lose();
      await client.resume();
      expect(await client.dequeued()).toEqual([]);
    });

    it.each([10, 1])(
      'on a lost connection: the present connection is sent its PUBREL, or the message (window of %i)',
      async (receiveMaximum) => {
        const client = await QueueClient.make(makeStores);
        const [first, second] = await client.offerAll(['a', 'b'], { qos: 2 });
        const old = copyOf(await client.session());
        await client.lose();
        await client.resume(receiveMaximum);
        const dequeued = receiveMaximum === 1 ? await client.dequeued() : [];
        // A frame of the old connection that another process handles late.
        const late = await client.stores.queues.release(old, second?.packetId ?? 0);
        expect(['done', 'unknown', 'ended']).toContain(late);
        if (receiveMaximum === 1) await client.complete(first?.packetId ?? 0);
        dequeued.push(...(await client.dequeued()));
        const followsLate = late === 'done' ? `pubrel ${second?.packetId}` : 'b+';
        expect(dequeued.sort()).toEqual(['a+', followsLate].sort());
        expect(await client.dequeued()).toEqual([]);
      },
    );

    it('has a PUBREL that is sent although messages wait for the window', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const [, , third] = await client.offerAll(['a', 'b', 'c'], { qos: 2 });
      await client.release(third?.packetId ?? 0);
      await client.lose();
      await client.resume(1);
      expect((await client.dequeued()).sort()).toEqual(['a+', `pubrel ${third?.packetId}`].sort());
    });

    it('has a PUBREL that takes no place in the window [MQTT-3.3.4-10]', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const deliveries = await client.offerAll(['a', 'b', 'c'], { qos: 2 });
      const [first, second, third] = deliveries.map(({ packetId }) => packetId);
      await client.release(first ?? 0);
      await client.release(third ?? 0);
      await client.lose();
      await client.resume(1);
      const dequeued = await client.dequeued();
      expect(dequeued.filter((each) => each.startsWith('pubrel'))).toEqual([
        `pubrel ${first}`,
        `pubrel ${third}`,
      ]);
      expect(dequeued.filter((each) => !each.startsWith('pubrel'))).toEqual(['b+']);
      expect(await client.dequeued()).toEqual([]);
      // Its completion returns nothing that was not taken.
      await client.complete(first ?? 0);
      expect((await client.offer('d')).packetId).toBe(0);
      expect(await client.dequeued()).toEqual([]);
      await client.complete(second ?? 0);
      expect(await client.dequeued()).toEqual(['d']);
    });
  });
}
