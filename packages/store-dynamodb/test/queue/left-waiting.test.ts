import type { Queued } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { deliveryTo, messageOf, open, PAGE, ROOMY, unique } from '../support/client.ts';
import { isAppend, onceAfter } from '../support/hooks.ts';
import { NOW_MS, withService } from '../support/stores.ts';

const payloadsOf = (queued: readonly Queued[]) =>
  queued.map((each) => (each.type === 'publish' ? Buffer.from(each.message.payload).toString() : 'pubrel'));

await withService((service) => {
  describe('a publisher that dies when its message has begun to wait', () => {
    /** The window is full, and empty again when the publisher has died. */
    const begin = async (receiveMaximum: number) => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c', { attachment: { receiveMaximum } });
      const first = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(1), [first], ROOMY);
      const die = async () => {
        expect(await stores.queues.complete(session, first.packetId, 'puback')).toBe('done');
        throw new Error('the publisher dies');
      };
      const publisher = service.make({ hooks: onceAfter(isAppend, die) });
      await expect(
        publisher.queues.offer(messageOf(2), [deliveryTo({ ...session })], ROOMY),
      ).rejects.toThrow();
      return { stores, session };
    };

    it('leaves it waiting, and a frame that finds it there has it dequeued', async () => {
      const { stores, session } = await begin(1);
      const frame = stores.forEvent({ connectionId: session.attachment?.connectionId ?? '' });
      expect(await frame.queues.next(session, PAGE, NOW_MS)).toEqual([]);
      expect(await frame.queues.length(session)).toBe(1);
      await frame.queues.lookAgain(session);
      expect(frame.isMoreWaiting).toBe(true);
      await frame.commit();
      const fetch = stores.forEvent({ connectionId: session.attachment?.connectionId ?? '' });
      expect(payloadsOf(await fetch.queues.next(session, PAGE, NOW_MS))).toEqual(['2']);
      expect(await fetch.queues.length(session)).toBe(0);
      await fetch.commit();
      expect(await stores.queues.complete(session, 2, 'puback')).toBe('done');
    });

    it('is not waited for by publishers that come later, once a frame has looked', async () => {
      const { stores, session } = await begin(1);
      await stores.queues.lookAgain(session);
      const later = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(3), [later], ROOMY);
      expect(later.packetId).toBe(0);
      expect(payloadsOf(await stores.queues.next(session, PAGE, NOW_MS))).toEqual(['2']);
    });
  });

  it('looking again where nothing was left behind changes nothing that the client is sent', async () => {
    const stores = service.make();
    const { session } = await open(stores, unique('tenant'), 'c');
    await stores.queues.lookAgain(session);
    await stores.queues.lookAgain(session);
    expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
    const next = deliveryTo({ ...session });
    await stores.queues.offer(messageOf(1), [next], ROOMY);
    expect(next.packetId).toBe(1);
  });
});
