import { ThrottledError } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, FIRST_PAUSE_MS, PAUSE_MS_MAX, RETRY_MS_MAX } from '../../src/limits.ts';
import { open, subscriptionTo, unique } from '../support/client.ts';
import { FakeClock, failure, withService } from '../support/stores.ts';

await withService((service) => {
  describe('throttling', () => {
    const throttled = (times: number) => {
      const fakeClock = new FakeClock();
      let left = 0;
      const hooks = {
        before: () => {
          left -= 1;
          if (left >= 0) throw failure('ThrottlingException');
        },
      };
      const begin = () => {
        left = times;
      };
      return { stores: service.make({ fakeClock, hooks, random: () => 0.5 }), fakeClock, begin };
    };

    it('that passes is waited for, with pauses that double as far as they may', async () => {
      const { stores, fakeClock, begin } = throttled(ATTEMPTS_MAX - 1);
      begin();
      expect(await open(stores, unique('tenant'), 'c')).toMatchObject({ present: false });
      const doubled = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => FIRST_PAUSE_MS * 2 ** index);
      expect(fakeClock.sleeps).toEqual(doubled.map((ms) => 0.5 * Math.min(ms, PAUSE_MS_MAX)));
      expect(Math.max(...doubled)).toBeGreaterThan(PAUSE_MS_MAX);
    });

    it('ends when the time for it is over, however slow each answer is', async () => {
      const fakeClock = new FakeClock();
      let attempts = 0;
      const hooks = {
        before: () => {
          attempts += 1;
          fakeClock.nowMs += RETRY_MS_MAX / 2;
          throw failure('TimeoutError');
        },
      };
      const stores = service.make({ fakeClock, hooks, random: () => 0.5 });
      await expect(open(stores, unique('tenant'), 'c')).rejects.toThrow(ThrottledError);
      expect(attempts).toBe(2);
    });

    it('leaves no doubt about what was done: nothing', async () => {
      const { stores, begin } = throttled(1);
      const { session } = await open(stores, unique('tenant'), 'c');
      begin();
      expect(await stores.subscriptions.remove(session, [{ topicFilter: 'none' }])).toEqual([false]);
      begin();
      expect(await stores.queues.complete(session, 1, 'puback')).toBe('unknown');
      begin();
      expect(await stores.queues.release(session, 1)).toBe('unknown');
    });

    it('that does not pass is an error with reason code 0x97', async () => {
      const { stores, begin } = throttled(ATTEMPTS_MAX);
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      begin();
      const put = stores.subscriptions.put(session, [subscriptionTo('a')], 10);
      await expect(put).rejects.toThrow(ThrottledError);
      await expect(put).rejects.toMatchObject({ reasonCode: 0x97, cause: { name: 'ThrottlingException' } });
    });
  });
});
