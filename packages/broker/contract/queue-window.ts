import { describe, expect, it } from 'vitest';
import { KEPT_PACKET_ID_MAX } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { type MakeStores, NOW_MS } from './support.ts';

/** Which messages `next` dequeues, and how acknowledgements make room in the window. */
export function queueWindowContract(makeStores: MakeStores): void {
  describe('next', () => {
    it('dequeues waiting messages in their order, as far as the window has room [MQTT-4.6.0-5]', async () => {
      const client = await QueueClient.make(makeStores, 2);
      const [first, second] = await client.offerAll(['a', 'b', 'c', 'd', 'e']);
      await client.complete(second?.packetId ?? 0);
      expect(await client.dequeued()).toEqual(['c']);
      expect(await client.dequeued()).toEqual([]);
      await client.complete(first?.packetId ?? 0);
      expect(await client.dequeued()).toEqual(['d']);
      expect(await client.length()).toBe(1);
    });

    it('dequeues at most as many as it was asked for', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offerAll(['a', 'b', 'c', 'd', 'e'], { isHeld: true });
      expect(await client.dequeued(2)).toEqual(['a', 'b']);
      expect(await client.length()).toBe(3);
      expect(await client.dequeued(2)).toEqual(['c', 'd']);
      expect(await client.dequeued(2)).toEqual(['e']);
    });

    it('skips and deletes messages that expired while they waited [MQTT-3.3.2-5]', async () => {
      const client = await QueueClient.make(makeStores, 2);
      await client.offer('a', { isHeld: true, expiresAtMs: NOW_MS + 10 });
      await client.offer('b', { isHeld: true });
      await client.offer('c', { isHeld: true, expiresAtMs: NOW_MS + 11 });
      await client.offer('d', { isHeld: true });
      expect(await client.dequeued(100, NOW_MS + 10)).toEqual(['b', 'c']);
      expect(await client.length()).toBe(1);
    });

    it('finds nothing for a session that was never offered a message', async () => {
      const client = await QueueClient.make(makeStores);
      expect(await client.dequeued()).toEqual([]);
      expect(await client.length()).toBe(0);
    });
  });

  describe('complete', () => {
    it('makes room in the window', async () => {
      const client = await QueueClient.make(makeStores, 1);
      const [first] = await client.offerAll(['a', 'b']);
      expect(await client.complete(first?.packetId ?? 0)).toBe(true);
      expect(await client.dequeued()).toEqual(['b']);
    });

    it('does not know an id that was never assigned, or whose exchange is complete', async () => {
      const client = await QueueClient.make(makeStores, 2);
      const { packetId } = await client.offer('a');
      expect(await client.complete((packetId % KEPT_PACKET_ID_MAX) + 1)).toBe(false);
      expect(await client.complete(packetId)).toBe(true);
      expect(await client.complete(packetId)).toBe(false);
      // The window did not grow by acknowledgements that named nothing.
      const ids = (await client.offerAll(['b', 'c', 'd'])).map((each) => each.packetId);
      expect(ids.filter((id) => id > 0)).toHaveLength(2);
    });

    it('does not know an id of a session that was never offered a message', async () => {
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
      expect(await client.dequeued()).toEqual([]);
      expect(await client.complete(packetId)).toBe(true);
      expect(await client.dequeued()).toEqual(['b']);
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
      expect(await client.dequeued()).toEqual(['a+']);
    });
  });

  it('length counts waiting messages, and not inflight ones', async () => {
    const client = await QueueClient.make(makeStores, 2);
    await client.offerAll(['a', 'b', 'c']);
    expect(await client.length()).toBe(1);
    await client.lose();
    expect(await client.length()).toBe(1);
    await client.resume(2);
    expect(await client.length()).toBe(1);
    expect(await client.dequeued()).toEqual(['a+', 'b+']);
    expect(await client.length()).toBe(1);
  });
}
