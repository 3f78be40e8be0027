import { type DynamoStores, unusedShapes } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { FILTER_SHAPES_OF_IDENTITY_MAX, SHAPE_TRUSTED_MS, SHAPE_UNUSED_MS } from '../../src/limits.ts';
import { open, subscriptionTo, unique } from '../support/client.ts';
import { FakeClock, withService } from '../support/stores.ts';

const NONE = () => false;
const ANY = () => true;

await withService((service) => {
  const setUp = async () => {
    const fakeClock = new FakeClock();
    const tenant = unique('tenant');
    const make = () => service.make({ fakeClock });
    const stores = make();
    const { session } = await open(stores, tenant, 'client');
    const put = async (filter: string, by: DynamoStores = stores, name?: string) => {
      const holder = name === undefined ? undefined : ({ tenant, kind: 'identity', name } as const);
      const [outcome] = await by.subscriptions.put(session, [subscriptionTo(filter)], 10_000, holder);
      return outcome;
    };
    const release = (isUsed: () => boolean) =>
      make().shapes.release(tenant, unusedShapes(fakeClock.nowMs, isUsed));
    const isMatched = async (topic: string) => (await make().subscriptions.match(tenant, topic)).length > 0;
    return { fakeClock, tenant, make, put, release, isMatched };
  };

  describe('a filter shape without a subscription', () => {
    it('is removed half an hour after the sweep has marked it, and may come again [SEC-POOL-4]', async () => {
      const { fakeClock, put, release, isMatched } = await setUp();
      await put('a/+');
      fakeClock.nowMs += 10_000;
      await release(NONE);
      fakeClock.nowMs += SHAPE_UNUSED_MS - 1;
      await release(NONE);
      expect(await isMatched('a/b')).toBe(true);
      fakeClock.nowMs += 1;
      await release(NONE);
      expect(await isMatched('a/b')).toBe(false);
      fakeClock.sleeps.length = 0;
      await put('b/+');
      expect(fakeClock.sleeps, 'publishers have to learn of it again').toEqual([2_000]);
      expect(await isMatched('b/c')).toBe(true);
    });

    it('stays where a process that trusts it subscribes meanwhile [SEC-POOL-4]', async () => {
      const { fakeClock, put, release, isMatched } = await setUp();
      await put('a/+');
      fakeClock.nowMs += 10_000;
      await release(NONE);
      fakeClock.nowMs += SHAPE_TRUSTED_MS / 2;
      fakeClock.sleeps.length = 0;
      await put('b/+');
      expect(fakeClock.sleeps).toEqual([]);
      fakeClock.nowMs += SHAPE_UNUSED_MS;
      await release(ANY);
      fakeClock.nowMs += SHAPE_UNUSED_MS;
      await release(NONE);
      expect(await isMatched('b/c')).toBe(true);
    });

    it('stays where the pass of the sweep began less than half an hour after the mark, however long it took [SEC-POOL-4]', async () => {
      const { fakeClock, tenant, make, put, isMatched } = await setUp();
      await put('a/+');
      fakeClock.nowMs += 10_000;
      // A pass of two hours, and the next one right behind it.
      const beganAtMs = fakeClock.nowMs;
      fakeClock.nowMs += 7_200_000;
      await make().shapes.release(tenant, unusedShapes(beganAtMs, NONE));
      const nextBeganAtMs = fakeClock.nowMs;
      fakeClock.nowMs += 7_200_000;
      await make().shapes.release(tenant, unusedShapes(nextBeganAtMs, NONE));
      expect(await isMatched('a/b')).toBe(true);
    });

    it('is unmarked by a process that reads the mark [SEC-POOL-4]', async () => {
      const { fakeClock, make, put, release, isMatched } = await setUp();
      await put('a/+');
      fakeClock.nowMs += 10_000;
      await release(NONE);
      fakeClock.nowMs += SHAPE_UNUSED_MS;
      await put('b/+', make());
      await release(NONE);
      expect(await isMatched('b/c')).toBe(true);
    });
  });

  it('a holder has its share exactly, over all processes [SEC-POOL-3]', async () => {
    const { tenant, make, put } = await setUp();
    const filterOf = (levels: number) => `${'a/'.repeat(levels)}+`;
    for (let levels = 1; levels < FILTER_SHAPES_OF_IDENTITY_MAX; levels += 1)
      expect(await put(filterOf(levels), undefined, 'greedy')).toBe('added');
    const both = [make(), make()];
    // Each has read that one more has room.
    await Promise.all(both.map((stores) => stores.subscriptions.match(tenant, 'warm')));
    const outcomes = await Promise.all([
      put(filterOf(50), both[0], 'greedy'),
      put(filterOf(51), both[1], 'greedy'),
    ]);
    expect(outcomes.sort()).toEqual(['added', 'over-limit']);
    expect(await put(filterOf(52), undefined, 'honest')).toBe('added');
  });
});
