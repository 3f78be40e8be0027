import { describe, expect, it } from 'vitest';
import { KEPT_PACKET_ID_MAX } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import type { MakeStores } from './support.ts';

/** Which messages `next` dequeues, and how acknowledgements make room in the window. */
export function queueWindowContract(makeStores: MakeStores): void {
  describe('next', () => {
    it('finds nothing for a session that was never offered a message', async () => {
      const client = await QueueClient.make(makeStores);
      expect(await client.dequeued()).toEqual([]);
      expect(await client.length()).toBe(0);
    });
  });

  describe('complete', () => {
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
  });
}
