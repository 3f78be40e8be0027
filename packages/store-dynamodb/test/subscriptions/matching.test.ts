import type { SessionRef, SubscribeOutcome } from '@apus/broker';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { CLOCK_SKEW_MS, SHAPES_MAX } from '../../src/limits.ts';
import { VERSION } from '../../src/table/values.ts';
import {
  attachmentOf,
  deliveryTo,
  messageOf,
  open,
  ROOMY,
  subscriptionTo,
  unique,
} from '../support/client.ts';
import { FakeClock, type Service, withService } from '../support/stores.ts';

const MAXIMUM = 10_000;

// A hundred thousand heads are written before they are matched.
vi.setConfig({ testTimeout: 300_000 });

/** Heads as another process has left them, without the two seconds and the six calls that each SUBSCRIBE takes. */
async function writeHeads(service: Service, tenant: string, from: number, to: number): Promise<void> {
  const { client, tableName } = service;
  const put = async (start: number) => {
    const requests = Array.from({ length: Math.min(25, to - start) }, (_, offset) => ({
      PutRequest: {
        Item: {
          p: { S: `F\0${tenant}\0device/${start + offset}/+` },
          s: { S: 'head' },
          v: { N: String(VERSION) },
          n: { N: '1' },
          '@other': { S: '["other",1,0,0,"connection",5,10,1000]' },
        },
      },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: requests } }));
  };
  for (let start = from; start < to; start += 25 * 8) {
    const starts = Array.from({ length: 8 }, (_, index) => start + index * 25).filter((each) => each < to);
    await Promise.all(starts.map(put));
  }
}

await withService((service) => {
  describe('matching by shape', () => {
    it('costs a publish the same number of reads with 10, 1,000 and 100,000 filters', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'client', { attachment: { keepsNothing: true } });
      const shapes = ['device/0/+', 'device/0/state', '+/0/state', 'device/#'];
      await stores.subscriptions.put(
        session,
        shapes.map((each) => subscriptionTo(each)),
        MAXIMUM,
      );
      await stores.subscriptions.match(tenant, 'warm');
      const costs: unknown[] = [];
      let written = 1;
      for (const filters of [10, 1_000, 100_000]) {
        await writeHeads(service, tenant, written, filters);
        written = filters;
        const before = stores.meter.units;
        const matched = await stores.subscriptions.match(tenant, `device/${filters - 1}/state`);
        const { reads, calls } = stores.meter.since(before);
        costs.push({ reads, calls });
        expect(matched.map(({ topicFilter }) => topicFilter).sort()).toEqual([
          'device/#',
          `device/${filters - 1}/+`,
        ]);
      }
      // One BatchGet, a unit for each of the four shapes.
      expect(costs).toEqual(Array(3).fill({ reads: 4, calls: 1 }));
    });

    it('lets SUBACK of a new shape wait until every process knows it', async () => {
      const fakeClock = new FakeClock();
      const publisher = service.make({ fakeClock });
      const tenant = unique('tenant');
      const { session } = await open(publisher, tenant, 'client');
      const found: number[] = [];
      const subscriber = service.make({
        fakeClock,
        sleep: async (ms) => {
          // The publisher's lease is from just before: it does not look for the shape yet.
          found.push((await publisher.subscriptions.match(tenant, 'a/b')).length);
          await fakeClock.sleep(ms);
        },
      });
      expect(await publisher.subscriptions.match(tenant, 'a/b')).toEqual([]);
      await subscriber.subscriptions.put(session, [subscriptionTo('a/+')], MAXIMUM);
      expect(fakeClock.sleeps).toEqual([2_000]);
      expect(found).toEqual([0]);
      expect(await publisher.subscriptions.match(tenant, 'a/b')).toHaveLength(1);
      // A known shape needs no wait.
      await subscriber.subscriptions.put(session, [subscriptionTo('x/+')], MAXIMUM);
      expect(fakeClock.sleeps).toEqual([2_000]);
    });

    it('finds a new shape after two seconds, also where the wall clock goes back', async () => {
      const fakeClock = new FakeClock();
      const [publisher, subscriber] = [service.make({ fakeClock }), service.make({ fakeClock })];
      const tenant = unique('tenant');
      const { session } = await open(publisher, tenant, 'client');
      expect(await publisher.subscriptions.match(tenant, 'a/b')).toEqual([]);
      fakeClock.steppedMs = -3_600_000;
      await subscriber.subscriptions.put(session, [subscriptionTo('a/+')], MAXIMUM);
      expect(await publisher.subscriptions.match(tenant, 'a/b')).toHaveLength(1);
    });

    it('waits for a shape that another process has entered just now', async () => {
      const fakeClock = new FakeClock();
      const [first, second] = [service.make({ fakeClock }), service.make({ fakeClock })];
      const tenant = unique('tenant');
      const { session } = await open(first, tenant, 'client');
      await first.subscriptions.put(session, [subscriptionTo('a/+')], MAXIMUM);
      await second.subscriptions.put(session, [subscriptionTo('b/+')], MAXIMUM);
      expect(fakeClock.sleeps).toEqual([2_000, 2_000]);
      fakeClock.nowMs += 10_000;
      await service.make({ fakeClock }).subscriptions.put(session, [subscriptionTo('c/+')], MAXIMUM);
      expect(fakeClock.sleeps).toHaveLength(2);
    });

    it(`takes ${SHAPES_MAX} shapes, and answers over-limit beyond`, async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'client');
      const ofShape = (number: number) =>
        number
          .toString(2)
          .padStart(7, '0')
          .split('')
          .map((digit) => (digit === '1' ? '+' : 'a'))
          .join('/');
      const outcomes: SubscribeOutcome[] = [];
      for (let number = 0; number < SHAPES_MAX + 1; number += 1) {
        outcomes.push(
          ...(await stores.subscriptions.put(session, [subscriptionTo(ofShape(number))], MAXIMUM)),
        );
      }
      expect(outcomes.slice(0, -1)).toEqual(Array(SHAPES_MAX).fill('added'));
      expect(outcomes.at(-1)).toBe('over-limit');
      // Another filter of a shape that is in use is welcome.
      expect(await stores.subscriptions.put(session, [subscriptionTo('b/b/b/b/b/b/b')], MAXIMUM)).toEqual([
        'added',
      ]);
    });

    it('reads nothing more for a session that keeps nothing, and one item for any other where it has a record', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'ephemeral', { attachment: { keepsNothing: true } });
      const { session: other } = await open(stores, tenant, 'persistent');
      const { session: fresh } = await open(stores, tenant, 'fresh');
      await stores.subscriptions.put(session, [subscriptionTo('e')], MAXIMUM);
      await stores.subscriptions.put(other, [subscriptionTo('p')], MAXIMUM);
      await stores.subscriptions.put(fresh, [subscriptionTo('f')], MAXIMUM);
      await stores.queues.offer(messageOf(1), [deliveryTo(other)], ROOMY);
      await stores.subscriptions.match(tenant, 'warm');
      const readsOf = async (topic: string) => {
        const before = stores.meter.units;
        const [matched] = await stores.subscriptions.match(tenant, topic);
        return {
          reads: stores.meter.since(before).reads,
          attachment: matched?.subscribers[0]?.session.attachment,
        };
      };
      const attachment = attachmentOf('ephemeral:1', { keepsNothing: true });
      expect(await readsOf('e')).toEqual({ reads: 1, attachment });
      expect(await readsOf('p')).toMatchObject({ reads: 2, attachment: { connectionId: 'persistent:1' } });
      // At QoS 0 the session item says enough.
      await stores.subscriptions.put(fresh, [{ ...subscriptionTo('z'), qos: 0 }], MAXIMUM);
      expect(await readsOf('z')).toMatchObject({ reads: 2, attachment: { connectionId: 'fresh:1' } });
      // The record that is missing, and the session item.
      expect(await readsOf('f')).toMatchObject({ reads: 3, attachment: { connectionId: 'fresh:1' } });
    });

    it('ignores a subscriber whose connection cannot live any more', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, connectionSecondsMax: 7_200 });
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'gone', { attachment: { keepsNothing: true } });
      await stores.subscriptions.put(session, [subscriptionTo('a')], MAXIMUM);
      expect(await stores.subscriptions.match(tenant, 'a')).toHaveLength(1);
      // By the clock of a process that is five seconds ahead it may be there still.
      fakeClock.nowMs += 7_197_000 + CLOCK_SKEW_MS;
      expect(await stores.subscriptions.match(tenant, 'a')).toHaveLength(1);
      fakeClock.nowMs += 4_000;
      expect(await stores.subscriptions.match(tenant, 'a')).toEqual([]);
    });
  });

  describe('a wide filter', () => {
    const fill = async (count: number, shardSubscribers = 5) => {
      const tenant = unique('tenant');
      // Every subscriber that joins a shard counts it.
      const stores = service.make({ inlineSubscribersMax: 2, shardSubscribers, random: () => 0 });
      const sessions: SessionRef[] = [];
      for (let index = 0; index < count; index += 1) {
        const { session } = await open(stores, tenant, `c${index}`);
        await stores.subscriptions.put(session, [subscriptionTo('wide')], MAXIMUM);
        sessions.push(session);
      }
      return { tenant, stores, sessions };
    };
    const namesOf = async ({ tenant, stores }: Awaited<ReturnType<typeof fill>>) =>
      (await stores.subscriptions.match(tenant, 'wide'))
        .flatMap(({ subscribers }) => subscribers.map(({ session }) => session.clientId))
        .sort();

    it('doubles its shards as they fill, moves no subscriber and misses none', async () => {
      const filled = await fill(40);
      const { tenant, stores, sessions } = filled;
      expect(await namesOf(filled)).toEqual(sessions.map(({ clientId }) => clientId).sort());
      const [head] = await service.make({ shards: 'leave' }).subscriptions.match(tenant, 'wide');
      expect(head?.subscribers).toHaveLength(2);
      const shards = head?.shards ?? 0;
      expect(shards).toBeGreaterThanOrEqual(4);
      let inShards = 0;
      for (let shard = 0; shard < shards; shard += 1) {
        let after: string | undefined;
        do {
          const slice = await stores.subscriptions.readShard(
            { tenant, topicFilter: 'wide', shard },
            { after, limit: 3 },
          );
          expect(slice.subscribers.length).toBeLessThanOrEqual(3);
          inShards += slice.subscribers.length;
          after = slice.next;
        } while (after !== undefined);
      }
      expect(inShards).toBe(38);
    });

    it('has about as many shards as its subscribers fill, although the first ones stay full', async () => {
      const { tenant } = await fill(160, 20);
      const [head] = await service.make({ shards: 'leave' }).subscriptions.match(tenant, 'wide');
      expect(head?.shards).toBeGreaterThanOrEqual(4);
      expect(head?.shards).toBeLessThanOrEqual(8);
    });

    it('finds each subscriber in its shard, from any number of shards', async () => {
      const filled = await fill(30);
      const { stores, sessions } = filled;
      const replacement = { ...subscriptionTo('wide'), qos: 2 as const };
      for (const session of sessions) {
        expect(await stores.subscriptions.put(session, [replacement], MAXIMUM)).toEqual(['replaced']);
      }
      expect(await namesOf(filled)).toHaveLength(30);
      for (const session of sessions) {
        expect(await stores.subscriptions.remove(session, [{ topicFilter: 'wide' }])).toEqual([true]);
      }
      expect(await namesOf(filled)).toEqual([]);
    });

    it('stays wide', async () => {
      const filled = await fill(4);
      const { tenant, stores, sessions } = filled;
      for (const session of sessions) await stores.subscriptions.clear(session);
      const [head] = await service.make({ shards: 'leave' }).subscriptions.match(tenant, 'wide');
      expect(head).toMatchObject({ subscribers: [], shards: 1 });
    });
  });

  it('a frame reads its connection and the heads of all its topics in one call, and matches each once', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'client', { attachment: { keepsNothing: true } });
    await stores.subscriptions.put(
      session,
      ['a', 'b'].map((each) => subscriptionTo(each)),
      MAXIMUM,
    );
    const connectionId = unique('connection');
    await stores.links.save(connectionId, { phase: 'new' });
    await stores.subscriptions.match(tenant, 'warm');
    const before = stores.meter.units;
    const frame = stores.forEvent({ connectionId });
    await frame.readAhead({ connectionId, tenant, topicNames: ['a', 'b', 'a', 'c'] });
    expect(await frame.links.load(connectionId)).toEqual({ phase: 'new' });
    for (const topic of ['a', 'a', 'b'])
      expect(await frame.subscriptions.match(tenant, topic)).toHaveLength(1);
    expect(await frame.subscriptions.match(tenant, 'c')).toEqual([]);
    // The list of bans is read along, every half minute.
    expect(stores.meter.since(before)).toEqual({ reads: 4 + 1, writes: 0, calls: 1 });
    // The frame sees its own changes.
    await frame.subscriptions.remove(session, [{ topicFilter: 'a' }]);
    expect(await frame.subscriptions.match(tenant, 'a')).toEqual([]);
  });
});
