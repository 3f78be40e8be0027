import { describe, expect, it } from 'vitest';
import type { QueueLimits } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { deliveryTo, type MakeStores, ROOMY } from './support.ts';

/** `a/b` and a payload of one letter. */
const BYTES = 4;

/** How much waits for one session, and what gives way. */
export function queueLimitsContract(makeStores: MakeStores): void {
  /** The same client, offline, offered messages of one letter each. Answers how many were dropped by each offer. */
  const offline = async (payloads: readonly string[], limits: QueueLimits) => {
    const client = await QueueClient.make(makeStores);
    await client.lose();
    const dropped: number[] = [];
    for (const payload of payloads) dropped.push((await client.offer(payload, { limits })).dropped);
    const length = await client.length();
    await client.resume();
    return { dropped, length, waiting: await client.dequeued() };
  };

  describe('a full queue', () => {
    it('says for which session it has dropped a message', async () => {
      const limits: QueueLimits = { ...ROOMY, queueLengthMax: 1, whenFull: 'drop-oldest' };
      const full = await QueueClient.make(makeStores);
      const roomy = await QueueClient.beside(full);
      for (const client of [full, roomy]) await client.lose();
      await full.offer('a', { limits });
      const deliveries = [deliveryTo(await full.session()), deliveryTo(await roomy.session())];
      expect(await full.stores.queues.offer(full.message('b'), deliveries, limits)).toBe(1);
      expect(deliveries.map(({ dropped }) => dropped)).toEqual([1, undefined]);
    });

    it('counts the bytes of a topic in UTF-8', async () => {
      const client = await QueueClient.make(makeStores);
      await client.lose();
      const offer = async (queueBytesMax: number) => {
        const message = client.message('x', { topic: 'ä/€' });
        const limits = { ...ROOMY, queueBytesMax };
        return await client.stores.queues.offer(message, [deliveryTo(await client.session())], limits);
      };
      expect(await offer(6)).toBe(1);
      expect(await offer(7)).toBe(0);
    });

    it('drops all its messages for one that just fits into it', async () => {
      const limits: QueueLimits = { ...ROOMY, queueBytesMax: 2 * BYTES, whenFull: 'drop-oldest' };
      const longest = 'x'.repeat(2 * BYTES - 'a/b'.length);
      expect(await offline(['a', 'b', longest], limits)).toMatchObject({
        dropped: [0, 0, 2],
        waiting: [longest],
      });
    });

    it.each(['drop-oldest', 'drop-newest'] as const)(
      'drops a message that fits no queue (%s)',
      async (whenFull) => {
        const limits: QueueLimits = { ...ROOMY, queueBytesMax: 2 * BYTES, whenFull };
        const tooLong = 'x'.repeat(2 * BYTES);
        expect(await offline(['a', 'b', tooLong], limits)).toMatchObject({
          dropped: [0, 0, 1],
          waiting: ['a', 'b'],
        });
      },
    );

    it.each(['drop-oldest', 'drop-newest'] as const)('of length 0 takes nothing (%s)', async (whenFull) => {
      expect(await offline(['a'], { ...ROOMY, queueLengthMax: 0, whenFull })).toEqual({
        dropped: [1],
        length: 0,
        waiting: [],
      });
    });

    it('has a limit for each session: the answer adds up what all have dropped', async () => {
      const client = await QueueClient.make(makeStores);
      const other = await QueueClient.beside(client);
      const third = await QueueClient.beside(client);
      for (const each of [client, other, third]) await each.lose();
      const limits = { ...ROOMY, queueLengthMax: 1 };
      await client.offer('a', { limits });
      await other.offer('a', { limits });
      const deliveries = await Promise.all(
        [client, other, third].map(async (each) => deliveryTo(await each.session())),
      );
      expect(await client.stores.queues.offer(client.message('b'), deliveries, limits)).toBe(2);
    });
  });
}
