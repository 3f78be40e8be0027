import { describe, expect, it } from 'vitest';
import { QueueClient } from './queue-support.ts';
import { copyOf, type MakeStores, NOW_MS, summary } from './support.ts';

/** The queue of a session that ends. */
export function queueEndContract(makeStores: MakeStores): void {
  describe('clear', () => {
    it('returns the unacknowledged messages, oldest first', async () => {
      const client = await QueueClient.make(makeStores, 3);
      const [, second] = await client.offerAll(['a', 'b', 'c', 'd', 'e']);
      await client.complete(second?.packetId ?? 0);
      await client.next();
      const left = await client.unacknowledged();
      expect(summary(left)).toEqual(['a', 'c', 'd', 'e']);
      // Whether its delivery has begun: [MQTT-4.8.2-5] depends on it.
      expect(left.map(({ delivery }) => delivery.packetId > 0)).toEqual([true, true, true, false]);
    });

    it('keeps the share group with a message, so that another member can get it', async () => {
      const client = await QueueClient.make(makeStores);
      const share = { shareGroup: 'g', topicFilter: 'a/+' };
      await client.offer('a', { share });
      const [left] = await client.unacknowledged();
      expect(left?.delivery.share).toEqual(share);
      expect(left?.message.topic).toBe('a/b');
    });

    it('forgets everything', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const [first] = await client.offerAll(['a', 'b']);
      const session = await client.session();
      await client.stores.queues.clear(session);
      expect(await client.length()).toBe(0);
      expect(await client.dequeued()).toEqual([]);
      expect(await client.complete(first?.packetId ?? 0)).toBe(false);
      expect(await client.unacknowledged()).toEqual([]);
      expect((await client.offer('c')).packetId).toBeGreaterThan(0);
    });

    it('returns nothing for a session that was offered nothing', async () => {
      const client = await QueueClient.make(makeStores);
      expect(await client.unacknowledged()).toEqual([]);
    });

    it('clears one incarnation: the newer one keeps its messages', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offerAll(['a', 'b']);
      const discarded = copyOf(await client.session());
      await client.open({ cleanStart: true });
      expect(await client.dequeued()).toEqual([]);
      await client.offer('c', { isHeld: true });
      expect(summary(await client.unacknowledged(discarded))).toEqual(['a', 'b']);
      expect(await client.dequeued()).toEqual(['c']);
    });

    it('works after the session was removed', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offer('a');
      const offline = copyOf(await client.lose());
      await client.stores.sessions.remove(offline);
      expect(summary(await client.unacknowledged(offline))).toEqual(['a']);
    });
  });

  it('keeps sessions apart', async () => {
    const client = await QueueClient.make(makeStores, 1);
    const other = await QueueClient.beside(client, 1);
    const { packetId } = await client.offer('a');
    await other.offer('b');
    await client.complete(packetId);
    await other.offer('c');
    expect(await other.length()).toBe(1);
    expect(await client.dequeued(1, NOW_MS)).toEqual([]);
  });

  it('does not take the packet ids of an old incarnation for those of the new one', async () => {
    const client = await QueueClient.make(makeStores);
    const { packetId } = await client.offer('a');
    await client.open({ cleanStart: true });
    expect(await client.complete(packetId)).toBe(false);
  });
}
