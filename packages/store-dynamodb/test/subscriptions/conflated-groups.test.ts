import { describe, expect, it } from 'vitest';
import { CONFLATED_CLAIM_MS, CONFLATED_TICK_LATE_MS } from '../../src/limits.ts';
import { open, subscriptionTo, unique } from '../support/client.ts';
import { once, onceAfter } from '../support/hooks.ts';
import { FakeClock, failure, withService } from '../support/stores.ts';

const FILTER = 'prices/+';
const TOPIC = 'prices/a';
const INTERVAL_MS = 1_000;
const MAXIMUM = 100;

await withService((service) => {
  describe('a conflated group', () => {
    const begin = async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock });
      const tenant = unique('tenant');
      const join = async (clientId: string, fields: { readonly conflateMs?: number | undefined } = {}) => {
        const { session } = await open(stores, tenant, clientId);
        const { conflateMs = INTERVAL_MS } = fields;
        await stores.subscriptions.put(session, [{ ...subscriptionTo(FILTER), conflateMs }], MAXIMUM);
        return session;
      };
      const groups = stores.conflatedGroups;
      const group = { tenant, topicFilter: FILTER, intervalMs: INTERVAL_MS };
      return {
        fakeClock,
        stores,
        tenant,
        group,
        join,
        arm: async (tickId = 'tick') =>
          await groups.armed(group, { tickId, dueAtMs: fakeClock.now() + INTERVAL_MS }),
        tick: async (tickId = 'tick') => await groups.begin(group, tickId),
        /** The filters that a publisher finds once its message has its place. */
        match: async () =>
          await service.make({ fakeClock, shards: 'leave' }).subscriptions.match(tenant, TOPIC, true),
      };
    };
    const UNARMED = [{ unarmedMs: [INTERVAL_MS] }];
    const begunOf = <T>(tick: T | 'over'): T => {
      if (tick === 'over') throw new Error('the tick is over');
      return tick;
    };

    it('is found by publishers without its subscribers, unless its tick is armed or tells it', async () => {
      const { join, match, arm, tick } = await begin();
      await join('one');
      expect(await match()).toMatchObject([
        { topicFilter: FILTER, subscribers: [], unarmedMs: [INTERVAL_MS] },
      ]);
      await arm();
      expect(await match()).toEqual([]);
      const { storedFilter, shards, done } = begunOf(await tick());
      expect(storedFilter).toBe(`#${INTERVAL_MS}/${FILTER}`);
      expect(shards).toBeGreaterThan(0);
      expect(await match()).toEqual([]);
      await done(new Map());
      expect(await match()).toMatchObject(UNARMED);
    });

    it('whose timer was lost is armed again by the first publisher a minute later', async () => {
      const { fakeClock, join, match, arm, tick } = await begin();
      await join('one');
      await arm('lost');
      fakeClock.nowMs += INTERVAL_MS + CONFLATED_TICK_LATE_MS - 1;
      expect(await match()).toEqual([]);
      fakeClock.nowMs += 1;
      expect(await match()).toMatchObject(UNARMED);
      await arm('other');
      expect(await match()).toEqual([]);
      expect(await tick('lost')).toBe('over');
      begunOf(await tick('other'));
    });

    it('has one tick: of two that were sent the first to be armed tells it', async () => {
      const { join, arm, tick } = await begin();
      await join('one');
      await arm('first');
      await arm('second');
      expect(await tick('second')).toBe('over');
      const { done } = begunOf(await tick('first'));
      expect(await tick('second')).toBe('over');
      await done(new Map());
      // No other one is armed, and its publisher may have died before it was.
      begunOf(await tick('second'));
    });

    it('is not armed by a publisher that its tick has overtaken', async () => {
      const { join, match, arm, tick } = await begin();
      await join('one');
      const { done } = begunOf(await tick('fast'));
      await arm('fast');
      await done(new Map());
      await arm('fast');
      expect(await match()).toMatchObject(UNARMED);
    });

    it('is told by one process at a time, and by another once the first has died', async () => {
      const { fakeClock, join, match, arm, tick } = await begin();
      await join('one');
      await arm();
      begunOf(await tick());
      await expect(tick()).rejects.toThrow('another process has this tick');
      fakeClock.nowMs += CONFLATED_CLAIM_MS;
      expect(await match()).toMatchObject(UNARMED);
      begunOf(await tick());
      await expect(tick()).rejects.toThrow('another process has this tick');
    });

    it('whose tick has died behind its end is told by the next one alone', async () => {
      const { join, arm, tick } = await begin();
      await join('one');
      const { done } = begunOf(await tick('dying'));
      await done(new Map());
      await arm('next');
      for (let times = 0; times < 3; times += 1) expect(await tick('dying')).toBe('over');
      begunOf(await tick('next'));
    });

    it('is told once where the answer to the beginning of its tick is lost', async () => {
      const { fakeClock, group, join } = await begin();
      await join('one');
      const begins = (operation: string, input: object) =>
        operation === 'UpdateItem' && JSON.stringify(input).includes('attribute_not_exists(#group.y)');
      const hooks = onceAfter(begins, async () => {
        throw failure('TimeoutError');
      });
      const { conflatedGroups } = service.make({ fakeClock, hooks });
      begunOf(await conflatedGroups.begin(group, 'tick'));
    });

    it('remembers the positions that it was told, of the last tick that was done', async () => {
      const { fakeClock, join, tick } = await begin();
      await join('one');
      const first = begunOf(await tick('1'));
      expect(first.hasTold(TOPIC, 'e-1')).toBe(false);
      await first.done(new Map([[TOPIC, 'e-1']]));
      const second = begunOf(await tick('2'));
      expect(second.hasTold(TOPIC, 'e-1')).toBe(true);
      expect(second.hasTold(TOPIC, 'e-2')).toBe(false);
      expect(second.hasTold('prices/b', 'e-1')).toBe(false);
      // Its process is taken for dead: the other one's tick goes on when the late one is done.
      fakeClock.nowMs += CONFLATED_CLAIM_MS;
      const third = begunOf(await tick('3'));
      await second.done(new Map([[TOPIC, 'e-2']]));
      await expect(tick('3')).rejects.toThrow('another process has this tick');
      await third.done(new Map([[TOPIC, 'e-3']]));
      expect(begunOf(await tick('4')).hasTold(TOPIC, 'e-3')).toBe(true);
    });

    it('costs publishers nothing from the tick on that finds no subscriber', async () => {
      const { stores, join, match, tick } = await begin();
      const session = await join('one');
      await stores.subscriptions.remove(session, [{ topicFilter: FILTER, shareGroup: undefined }]);
      expect(await match()).toMatchObject(UNARMED);
      expect(await tick()).toBe('over');
      expect(await match()).toEqual([]);
      expect(await tick()).toBe('over');
    });

    it('stays where a subscriber joins while a tick finds none', async () => {
      const { fakeClock, stores, group, join, match } = await begin();
      const session = await join('one');
      await stores.subscriptions.remove(session, [{ topicFilter: FILTER, shareGroup: undefined }]);
      const removesGroup = (_: string, input: object) => JSON.stringify(input).includes('REMOVE #group');
      const hooks = once(removesGroup, async () => await join('two'));
      const ticking = service.make({ fakeClock, hooks });
      const { done } = begunOf(await ticking.conflatedGroups.begin(group, 'tick'));
      await done(new Map());
      expect(await match()).toMatchObject(UNARMED);
    });

    it('is left for a group of another interval, and for a plain subscription', async () => {
      const { group, stores, join, match, tick } = await begin();
      const session = await join('one');
      await join('one', { conflateMs: 5_000 });
      expect(await tick()).toBe('over');
      expect(await match()).toMatchObject([{ unarmedMs: [5_000] }]);
      await stores.subscriptions.put(session, [subscriptionTo(FILTER)], MAXIMUM);
      expect(await stores.conflatedGroups.begin({ ...group, intervalMs: 5_000 }, 'tick')).toBe('over');
      expect(await match()).toMatchObject([{ subscribers: [{ session: { clientId: 'one' } }] }]);
    });
  });
});
