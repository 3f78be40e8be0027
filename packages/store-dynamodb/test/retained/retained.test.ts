import { messageBytes, type Stores } from '@apus/broker';
import { upTo } from '@apus/broker/samples';
import { describe, expect, it } from 'vitest';
import { hashOf } from '../../src/table/keys.ts';
import { messageId, messageOf, PAGE, unique } from '../support/client.ts';
import { FakeClock, NOW_MS, withService } from '../support/stores.ts';

/** The same numbers every time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

await withService((service) => {
  const topicsOf = async (stores: ReturnType<typeof service.make>, tenant: string, filter: string) =>
    (await stores.retained.match(tenant, filter, NOW_MS, undefined, PAGE)).messages.map(({ topic }) => topic);

  describe('a retained message', () => {
    it('that comes after a later delete does not come back', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock });
      const tenant = unique('tenant');
      await stores.retained.put(tenant, messageOf(1), upTo(100));
      await stores.retained.delete(tenant, 'a/b', messageId(3));
      expect(await stores.retained.put(tenant, messageOf(2), upTo(100))).toBe(true);
      expect(await topicsOf(stores, tenant, '#')).toEqual([]);
      expect(await stores.retained.put(tenant, messageOf(4), upTo(100))).toBe(true);
      expect(await topicsOf(stores, tenant, '#')).toEqual(['a/b']);
    });

    it('is deleted even where its put comes after its delete', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      await stores.retained.delete(tenant, 'a/b', messageId(3));
      await stores.retained.put(tenant, messageOf(2), upTo(100));
      expect(await topicsOf(stores, tenant, '#')).toEqual([]);
    });

    it.each([300_000, 2 * 1024 * 1024, 7 * 1024 * 1024])(
      'of %i bytes is stored in pieces, which go with it',
      async (length) => {
        const stores = service.make();
        const tenant = unique('tenant');
        const payload = Buffer.alloc(length, 'abcdefg');
        await stores.retained.put(tenant, messageOf(1, { payload }), upTo(100));
        const [message] = (await stores.retained.match(tenant, 'a/#', NOW_MS, undefined, PAGE)).messages;
        expect(Buffer.compare(payload, message?.payload ?? Buffer.alloc(0))).toBe(0);
        await stores.retained.put(tenant, messageOf(2), upTo(100));
        expect(await topicsOf(stores, tenant, '#')).toEqual(['a/b']);
      },
    );

    it('is refused where a tenant has about as many bytes as it may, unless it makes a message smaller', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, random: seeded(7) });
      const tenant = unique('tenant');
      const limits = { messagesMax: 10_000, bytesMax: 3_000_000 };
      const put = async (topic: string, id: number, length: number) => {
        // A number over a tenant is read again after a minute.
        fakeClock.nowMs += 60_001;
        return await stores.retained.put(
          tenant,
          messageOf(id, { topic, payload: Buffer.alloc(length, 'x') }),
          limits,
        );
      };
      let taken = 0;
      while (taken < 400 && (await put(`t/${taken}`, 1, 20_000))) taken += 1;
      // 148 are exact; one write in three counts them, as 64 KB.
      expect(taken).toBeGreaterThan(110);
      expect(taken).toBeLessThan(190);
      expect(await put('large', 1, 100_000)).toBe(false);
      expect(await put('t/0', 2, 200_000)).toBe(false);
      expect(await put('t/0', 2, 19_000)).toBe(true);
      for (let index = 0; index < taken; index += 1)
        await stores.retained.delete(tenant, `t/${index}`, messageId(3));
      expect(await put('large', 1, 1_000_000)).toBe(true);
    });

    it('has the sweep count the messages, where a tenant has as many as it may', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const wish = async () => (await stores.sweepScan.page(0, 1, undefined)).found;
      const wanted = { kind: 'holdings', account: { tenant, kind: 'tenant', name: '' }, isCountWanted: true };
      await stores.retained.put(tenant, messageOf(1), upTo(100));
      expect(await wish()).not.toContainEqual(wanted);
      expect(await stores.retained.put(tenant, messageOf(2, { topic: 'other' }), upTo(0))).toBe(false);
      expect(await wish()).toContainEqual(wanted);
    });

    it('to a topic as long as MQTT allows is found by its name and by wildcards', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const long = `plant/${'ä€😀/'.repeat(500)}`;
      for (const end of ['one', 'two'])
        await stores.retained.put(tenant, messageOf(1, { topic: long + end }), upTo(100));
      await stores.retained.put(tenant, messageOf(1, { topic: 'other' }), upTo(100));
      expect(await topicsOf(stores, tenant, `${long}one`)).toEqual([`${long}one`]);
      for (const filter of ['plant/#', '#', `${long}+`]) {
        expect(
          (await topicsOf(stores, tenant, filter)).filter((topic) => topic.startsWith('plant')),
        ).toHaveLength(2);
      }
    });
  });

  describe('the retained messages of', () => {
    it('a long topic are not those of a topic that is named like its key', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const long = `a/${'p'.repeat(2_000)}`;
      const key = `${long.slice(0, 300)}//${hashOf(long.replaceAll('/', '\0'))}`;
      for (const topic of [long, key]) await stores.retained.put(tenant, messageOf(1, { topic }), upTo(100));
      expect(await topicsOf(stores, tenant, long)).toEqual([long]);
      expect((await topicsOf(stores, tenant, 'a/#')).sort()).toEqual([long, key].sort());
      await stores.retained.delete(tenant, long, messageId(2));
      expect(await topicsOf(stores, tenant, '#')).toEqual([key]);
    });

    it('topics with the last code point of all are found by every wildcard', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const last = '\u{10ffff}';
      const topics = [`${last}x`, `${last}/${last}${last}/x`, last.repeat(225), `${last.repeat(400)}/x`];
      for (const topic of topics) await stores.retained.put(tenant, messageOf(1, { topic }), upTo(100));
      expect((await topicsOf(stores, tenant, '#')).sort()).toEqual([...topics].sort());
      expect(await topicsOf(stores, tenant, `${last}/#`)).toEqual([topics[1]]);
      expect(await topicsOf(stores, tenant, `${last.repeat(400)}/#`)).toEqual([topics[3]]);
    });
  });

  describe('the pages of a wildcard', () => {
    /** As the gateway sends them. */
    const LIMIT = { messages: 32, bytes: 24_000 };
    const put = async (
      stores: Stores,
      tenant: string,
      topics: readonly string[],
      length: (index: number) => number,
    ) => {
      const puts = topics.map(async (topic, index) => {
        const payload = Buffer.alloc(length(index));
        await stores.retained.put(tenant, messageOf(1, { topic, payload }), upTo(10_000));
      });
      await Promise.all(puts);
    };
    const read = async (
      stores: ReturnType<typeof service.make>,
      tenant: string,
      filter: string,
      start?: string,
    ) => {
      const before = stores.meter.units;
      const pages: string[][] = [];
      let from = start;
      do {
        const { messages, next } = await stores.retained.match(tenant, filter, NOW_MS, from, LIMIT);
        expect(messages.reduce((sum, each) => sum + messageBytes(each), 0)).toBeLessThanOrEqual(LIMIT.bytes);
        pages.push(messages.map(({ topic }) => topic));
        from = next;
      } while (from !== undefined);
      return {
        topics: pages.flat(),
        pages: pages.filter(({ length }) => length > 0).length,
        ...stores.meter.since(before),
      };
    };
    const topicsNamed = (count: number, name: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => name(index));

    it.each([
      // The first page reads 16; of each further one the items that are on it, each a unit's part more than its payload.
      { kilobytes: 20, pages: 32, reads: 16 * 5 + 1 + 31 * 6 + 1 },
      { kilobytes: 5, pages: 8, reads: 16 * 1.25 + 1 + 7 * 6 + 1 },
      // All in two Queries.
      { kilobytes: 0.1, pages: 1, reads: 1 + 1 },
    ])(
      'of 32 messages of $kilobytes KB read little more than their contents',
      async ({ kilobytes, pages, reads }) => {
        const stores = service.make();
        const tenant = unique('tenant');
        const topics = topicsNamed(32, (index) => `of/${index}`);
        await put(stores, tenant, topics, () => kilobytes * 1_024);
        const found = await read(stores, tenant, 'of/+');
        expect(found.topics.sort()).toEqual(topics.sort());
        expect(found).toMatchObject({ pages, reads });
      },
    );

    it('skip messages that do not match in a few large Queries', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      await put(
        stores,
        tenant,
        topicsNamed(200, (index) => `device-${index}/state`),
        () => 10,
      );
      await put(stores, tenant, ['last/config'], () => 10);
      const { topics, calls } = await read(stores, tenant, '+/config');
      expect(topics).toEqual(['last/config']);
      // 16, 128, and the rest.
      expect(calls).toBe(3);
    });

    it('hold every message once, however long each is and how many of them match', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const rareThenMany = (index: number) => (index < 60 ? index % 20 === 0 : index % 7 !== 0);
      const topics = topicsNamed(
        120,
        (index) => `${100 + index}/${rareThenMany(index) ? 'wanted' : 'other'}`,
      );
      await put(stores, tenant, topics, (index) => ((index * 7_919) % 23_000) >> (index % 9));
      const { topics: found } = await read(stores, tenant, '+/wanted');
      expect(found).toEqual(topics.filter((topic) => topic.endsWith('wanted')));
    });
  });

  it('a wildcard reads the topics that begin with its literal levels, and no others', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const payload = Buffer.alloc(4_000);
    for (let index = 0; index < 5; index += 1) {
      await stores.retained.put(tenant, messageOf(1, { topic: `few/${index}`, payload }), upTo(1_000));
    }
    for (let index = 0; index < 50; index += 1) {
      await stores.retained.put(tenant, messageOf(1, { topic: `many/${index}`, payload }), upTo(1_000));
      await stores.retained.put(tenant, messageOf(1, { topic: `few-others/${index}`, payload }), upTo(1_000));
    }
    const readsOf = async (filter: string) => {
      const before = stores.meter.units;
      await stores.retained.match(tenant, filter, NOW_MS, undefined, PAGE);
      return stores.meter.since(before).reads;
    };
    expect(await readsOf('few/0')).toBe(2);
    expect(await readsOf('few/+')).toBe(6);
    expect(await readsOf('few/#')).toBe(6);
    expect(await readsOf('none/#')).toBe(1);
  });
});
