import type { Ban, Identity } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/client.ts';
import { FakeClock, NOW_MS, withService } from '../support/stores.ts';

await withService((service) => {
  const setUp = (tenant = unique('tenant')) => {
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock });
    const ban = (fields: Partial<Ban> = {}): Ban => ({
      as: 'username',
      who: 'anna',
      tenant,
      by: 'somebody',
      reason: '',
      atMs: NOW_MS,
      ...fields,
    });
    /** Another test's are in the same list. */
    const all = async () => (await stores.bans.all()).filter((each) => each.tenant === tenant);
    const anna: Identity = { tenant, name: 'anna' };
    const frame = async () => {
      const connectionId = unique('connection');
      await stores.forEvent({ connectionId }).readAhead({ connectionId, tenant, topicNames: ['a'] });
    };
    return { fakeClock, stores, bans: stores.bans, tenant, ban, all, anna, frame };
  };

  describe('the list of bans in the table', () => {
    it('is known to another process with its next frame, half a minute later at most', async () => {
      const operator = setUp();
      const handler = setUp(operator.tenant);
      await handler.frame();
      await operator.bans.add(operator.ban());
      expect(operator.bans.banOn(operator.anna, 'c', undefined)).toBeDefined();
      handler.fakeClock.nowMs += 29_999;
      await handler.frame();
      expect(handler.bans.banOn(handler.anna, 'c', undefined)).toBeUndefined();
      handler.fakeClock.nowMs += 1;
      await handler.frame();
      expect(handler.bans.banOn(handler.anna, 'c', undefined)).toMatchObject({ who: 'anna' });
    });

    it('is known as soon where the wall clock goes back', async () => {
      const operator = setUp();
      const handler = setUp(operator.tenant);
      await handler.frame();
      await operator.bans.add(operator.ban());
      handler.fakeClock.steppedMs = -3_600_000;
      handler.fakeClock.nowMs += 30_000;
      await handler.frame();
      expect(handler.bans.banOn(handler.anna, 'c', undefined)).toMatchObject({ who: 'anna' });
    });

    it('costs a unit every half minute, and no call', async () => {
      const { stores, tenant, frame, fakeClock } = setUp();
      const unitsOf = async () => {
        const before = stores.meter.units;
        await frame();
        return stores.meter.since(before);
      };
      await frame();
      const usual = await unitsOf();
      fakeClock.nowMs += 30_000;
      await stores.subscriptions.match(tenant, 'a');
      expect(await unitsOf()).toEqual({ ...usual, reads: usual.reads + 1 });
      expect(await unitsOf()).toEqual(usual);
    });

    it('is read for a handshake when no frame has read it for half a minute', async () => {
      const operator = setUp();
      const handler = setUp(operator.tenant);
      await handler.bans.refresh();
      await operator.bans.add(operator.ban());
      await handler.bans.refresh();
      expect(handler.bans.banOn(handler.anna, 'c', undefined)).toBeUndefined();
      handler.fakeClock.nowMs += 30_000;
      await handler.bans.refresh();
      expect(handler.bans.banOn(handler.anna, 'c', undefined)).toBeDefined();
    });

    it('loses nothing when operators change it at the same time', async () => {
      const { tenant, all, ban } = setUp();
      const operators = Array.from({ length: 4 }, () => setUp(tenant));
      await Promise.all(operators.map(({ bans }, index) => bans.add(ban({ who: `user-${index}` }))));
      expect((await all()).map(({ who }) => who).sort()).toEqual(['user-0', 'user-1', 'user-2', 'user-3']);
    });

    it('loses a ban that is taken back, or has ended', async () => {
      const { bans, ban, all, fakeClock } = setUp();
      await bans.add(ban({ untilMs: NOW_MS + 1_000 }));
      await bans.add(ban({ who: 'bert' }));
      expect(await all()).toHaveLength(2);
      fakeClock.nowMs += 1_000;
      expect(await all()).toMatchObject([{ who: 'bert' }]);
      expect(await bans.remove(ban({ who: 'bert' }))).toBe(true);
      expect(await bans.remove(ban({ who: 'bert' }))).toBe(false);
      expect(await all()).toEqual([]);
    });

    it('takes no more than an item that may be read every half minute', async () => {
      const { bans, ban, all } = setUp();
      const who = (index: number) => `${index}`.padEnd(1_000, '€');
      let taken = 0;
      while (taken < 1_000 && (await bans.add(ban({ who: who(taken) })))) taken += 1;
      expect(taken).toBeGreaterThan(50);
      expect(taken).toBeLessThan(70);
      for (const each of await all()) await bans.remove(each);
    });
  });
});
