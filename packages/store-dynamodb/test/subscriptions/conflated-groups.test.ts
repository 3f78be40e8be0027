import { describe, expect, it } from 'vitest';
import { CONFLATED_CLAIM_MS, CONFLATED_TICK_LATE_MS } from '../../src/limits.ts';
import { open, subscriptionTo, unique } from '../support/client.ts';
import { once } from '../support/hooks.ts';
import { FakeClock, withService } from '../support/stores.ts';

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
      return {
        fakeClock,
        stores,
        tenant,
        join,
        arm: async () => await groups.armed(tenant, FILTER, INTERVAL_MS, fakeClock.now() + INTERVAL_MS),
        tick: async (from = groups) => await from.begin(tenant, FILTER, INTERVAL_MS),
        /** The filters that a publisher finds once its message has its place. */
        match: async () =>
          await service.make({ fakeClock, shards: 'leave' }).subscriptions.match(tenant, TOPIC, true),
      };
    };
    const begunOf = <T>(tick: T | 'busy' | 'over'): T => {
      if (tick === 'busy' || tick === 'over') throw new Error(`the tick is ${tick}`);
      return tick;
    };

    it('is found by publishers without its subscribers, until its tick is armed, and again when that has begun', async () => {
      const { join, match, arm, tick } = await begin();
      await join('one');
      expect(await match()).toMatchObject([
        { topicFilter: FILTER, subscribers: [], unarmedMs: [INTERVAL_MS] },
      ]);
      await arm();
      expect(await match()).toEqual([]);
      const { storedFilter, shards } = begunOf(await tick());
      expect(storedFilter).toBe(`#${INTERVAL_MS}/${FILTER}`);
      expect(shards).toBeGreaterThan(0);
      expect(await match()).toMatchObject([{ unarmedMs: [INTERVAL_MS] }]);
    });

    it('whose timer was lost is armed again by the first publisher a minute later', async () => {
      const { fakeClock, join, match, arm } = await begin();
      await join('one');
      await arm();
      fakeClock.nowMs += INTERVAL_MS + CONFLATED_TICK_LATE_MS - 1;
      expect(await match()).toEqual([]);
      fakeClock.nowMs += 1;
      expect(await match()).toMatchObject([{ unarmedMs: [INTERVAL_MS] }]);
    });

    it('is told by one tick at a time, and by another once the process of the first has died', async () => {
      const { fakeClock, join, tick } = await begin();
      await join('one');
      begunOf(await tick());
      expect(await tick()).toBe('busy');
      fakeClock.nowMs += CONFLATED_CLAIM_MS;
      begunOf(await tick());
    });

    it('remembers the positions that it was told, of the last tick that was done', async () => {
      const { fakeClock, join, tick } = await begin();
      await join('one');
      const first = begunOf(await tick());
      expect(first.hasTold(TOPIC, 'e-1')).toBe(false);
      await first.done(new Map([[TOPIC, 'e-1']]));
      const second = begunOf(await tick());
      expect(second.hasTold(TOPIC, 'e-1')).toBe(true);
      expect(second.hasTold(TOPIC, 'e-2')).toBe(false);
      expect(second.hasTold('prices/b', 'e-1')).toBe(false);
      // Its process is taken for dead: a later tick has told more, and the late one changes nothing.
      fakeClock.nowMs += CONFLATED_CLAIM_MS;
      const third = begunOf(await tick());
      await second.done(new Map([[TOPIC, 'e-0']]));
      expect(await tick()).toBe('busy');
      await third.done(new Map([[TOPIC, 'e-3']]));
      expect(begunOf(await tick()).hasTold(TOPIC, 'e-3')).toBe(true);
    });

    it('costs publishers nothing from the tick on that finds no subscriber', async () => {
      const { stores, join, match, tick } = await begin();
      const session = await join('one');
      await stores.subscriptions.remove(session, [{ topicFilter: FILTER, shareGroup: undefined }]);
      expect(await match()).toMatchObject([{ unarmedMs: [INTERVAL_MS] }]);
      expect(await tick()).toBe('over');
      expect(await match()).toEqual([]);
      expect(await tick()).toBe('over');
    });

    it('stays where a subscriber joins while a tick finds none', async () => {
      const { fakeClock, stores, tenant, join, match } = await begin();
      const session = await join('one');
      await stores.subscriptions.remove(session, [{ topicFilter: FILTER, shareGroup: undefined }]);
      const removesGroup = (_: string, input: object) => JSON.stringify(input).includes('REMOVE #group');
      const hooks = once(removesGroup, async () => await join('two'));
      const ticking = service.make({ fakeClock, hooks });
      await ticking.conflatedGroups.begin(tenant, FILTER, INTERVAL_MS);
      expect(await match()).toMatchObject([{ unarmedMs: [INTERVAL_MS] }]);
    });

    it('is left for a group of another interval, and for a plain subscription', async () => {
      const { tenant, stores, join, match, tick } = await begin();
      const session = await join('one');
      await join('one', { conflateMs: 5_000 });
      expect(await tick()).toBe('over');
      expect(await match()).toMatchObject([{ unarmedMs: [5_000] }]);
      await stores.subscriptions.put(session, [subscriptionTo(FILTER)], MAXIMUM);
      expect(await stores.conflatedGroups.begin(tenant, FILTER, 5_000)).toBe('over');
      expect(await match()).toMatchObject([{ subscribers: [{ session: { clientId: 'one' } }] }]);
    });
  });
});
