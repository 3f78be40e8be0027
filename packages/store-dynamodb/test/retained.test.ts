import { describe, expect, it } from 'vitest';
import { messageId, messageOf, PAGE, unique } from './support/client.ts';
import { FakeClock, NOW_MS, withService } from './support/stores.ts';

await withService((service) => {
  const topicsOf = async (stores: ReturnType<typeof service.make>, tenant: string, filter: string) =>
    (await stores.retained.match(tenant, filter, NOW_MS, undefined, PAGE)).messages.map(({ topic }) => topic);

  describe('a retained message', () => {
    it('that comes after a later delete does not come back', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock });
      const tenant = unique('tenant');
      await stores.retained.put(tenant, messageOf(1), 100);
      await stores.retained.delete(tenant, 'a/b', messageId(3));
      expect(await stores.retained.put(tenant, messageOf(2), 100)).toBe(true);
      expect(await topicsOf(stores, tenant, '#')).toEqual([]);
      expect(await stores.retained.put(tenant, messageOf(4), 100)).toBe(true);
      expect(await topicsOf(stores, tenant, '#')).toEqual(['a/b']);
    });

    it('is deleted even where its put comes after its delete', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      await stores.retained.delete(tenant, 'a/b', messageId(3));
      await stores.retained.put(tenant, messageOf(2), 100);
      expect(await topicsOf(stores, tenant, '#')).toEqual([]);
    });

    it.each([300_000, 2 * 1024 * 1024, 7 * 1024 * 1024])(
      'of %i bytes is stored in pieces, which go with it',
      async (length) => {
        const stores = service.make();
        const tenant = unique('tenant');
        const payload = Buffer.alloc(length, 'abcdefg');
        await stores.retained.put(tenant, messageOf(1, { payload }), 100);
        const [message] = (await stores.retained.match(tenant, 'a/#', NOW_MS, undefined, PAGE)).messages;
        expect(Buffer.compare(payload, message?.payload ?? Buffer.alloc(0))).toBe(0);
        await stores.retained.put(tenant, messageOf(2), 100);
        expect(await topicsOf(stores, tenant, '#')).toEqual(['a/b']);
      },
    );

    it('to a topic as long as MQTT allows is found by its name and by wildcards', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const long = `plant/${'ä€😀/'.repeat(500)}`;
      for (const end of ['one', 'two'])
        await stores.retained.put(tenant, messageOf(1, { topic: long + end }), 100);
      await stores.retained.put(tenant, messageOf(1, { topic: 'other' }), 100);
      expect(await topicsOf(stores, tenant, `${long}one`)).toEqual([`${long}one`]);
      for (const filter of ['plant/#', '#', `${long}+`]) {
        expect(
          (await topicsOf(stores, tenant, filter)).filter((topic) => topic.startsWith('plant')),
        ).toHaveLength(2);
      }
    });
  });

  it('a wildcard reads what begins with its literal levels, and nothing of the rest', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const payload = Buffer.alloc(4_000);
    for (let index = 0; index < 5; index += 1) {
      await stores.retained.put(tenant, messageOf(1, { topic: `few/${index}`, payload }), 1_000);
    }
    for (let index = 0; index < 50; index += 1) {
      await stores.retained.put(tenant, messageOf(1, { topic: `many/${index}`, payload }), 1_000);
      await stores.retained.put(tenant, messageOf(1, { topic: `few-others/${index}`, payload }), 1_000);
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
