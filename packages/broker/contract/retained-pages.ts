import { beforeEach, describe, expect, it } from 'vitest';
import type { Message, RetainedStore } from '../src/index.ts';
import { type MakeStores, messageId, messageOf, NOW_MS, unique, upTo } from './support.ts';

/** How a long answer is read, page by page. */
export function retainedPagesContract(makeStores: MakeStores): void {
  let tenant: string;
  let retained: RetainedStore;

  beforeEach(async () => {
    tenant = unique('tenant');
    ({ retained } = await makeStores());
  });

  const put = async (topic: string, id = 1, fields: Partial<Message> = {}) =>
    await retained.put(
      tenant,
      messageOf({ topic, id: messageId(id), retain: true, ...fields }),
      upTo(10_000),
    );
  const page = async (
    filter: string,
    from: string | undefined,
    messages: number,
    bytes = Number.POSITIVE_INFINITY,
  ) => await retained.match(tenant, filter, NOW_MS, from, { messages, bytes });

  describe('pages', () => {
    const fill = async (count: number) => {
      for (let index = 0; index < count; index += 1) await put(`wide/${index}`, index + 1);
    };
    /** Reads to the end; `between` runs after each page. */
    const readAll = async (filter: string, limit: number, between = async (_page: number) => {}) => {
      const topics: string[] = [];
      let from: string | undefined;
      for (let count = 1; count < 1000; count += 1) {
        const { messages, next } = await page(filter, from, limit);
        expect(messages.length).toBeLessThanOrEqual(limit);
        topics.push(...messages.map(({ topic }) => topic));
        if (next === undefined) return topics;
        from = next;
        await between(count);
      }
      throw new Error('expected the pages to come to an end, got 1000 of them');
    };

    it.each([1, 7, 8, 20, 21, 100])('of at most %i hold every match once', async (limit) => {
      await fill(20);
      await put('narrow', 1);
      const topics = await readAll('wide/+', limit);
      expect(topics).toHaveLength(20);
      expect(new Set(topics).size).toBe(20);
    });

    it.each([
      { bytes: 25, expected: 1 },
      { bytes: 26, expected: 2 },
      { bytes: 1, expected: 1 },
      { bytes: 0, expected: 1 },
    ])('of at most $bytes bytes hold $expected of 13 bytes: one at least', async ({ bytes, expected }) => {
      await fill(6);
      const topics = new Set<string>();
      let from: string | undefined;
      for (let count = 0; count < 6 / expected; count += 1) {
        const { messages, next } = await page('#', from, 100, bytes);
        expect(messages).toHaveLength(expected);
        for (const { topic } of messages) topics.add(topic);
        from = next;
      }
      expect(from).toBeUndefined();
      expect(topics.size).toBe(6);
    });

    it('answer again when asked again', async () => {
      await fill(20);
      const { next } = await page('#', undefined, 7);
      expect((await page('#', next, 7)).messages).toEqual((await page('#', next, 7)).messages);
    });

    it('skip no message that stays while topics come and go between them', async () => {
      await fill(40);
      const topics = await readAll('#', 4, async (count) => {
        // Ever another topic goes, among those read and those to be read, and one comes; so do deeper ones.
        await retained.delete(tenant, `wide/${count * 3}`, messageId(1000));
        await put(`wide/${count * 3 + 1}`, 2000 + count);
        await put(`a-new/${count}`, 1);
        if (count < 5) await put(`wide/1/${count}`, 1);
      });
      const staying = Array.from({ length: 40 }, (_, index) => index).filter((index) => index % 3 === 2);
      for (const index of staying) {
        expect(
          topics.filter((topic) => topic === `wide/${index}`),
          `wide/${index}`,
        ).toHaveLength(1);
      }
    });

    it('come to an end when everything has been deleted', async () => {
      await fill(20);
      const { next } = await page('#', undefined, 5);
      for (let index = 0; index < 20; index += 1)
        await retained.delete(tenant, `wide/${index}`, messageId(100));
      let from = next;
      for (let count = 0; from !== undefined && count < 100; count += 1) {
        const rest = await page('#', from, 5);
        expect(rest.messages).toEqual([]);
        from = rest.next;
      }
      expect(from).toBeUndefined();
    });

    it('leave out expired messages', async () => {
      for (let index = 0; index < 30; index += 1) {
        await put(`wide/${index}`, 1, index % 3 === 0 ? {} : { expiresAtMs: NOW_MS });
      }
      expect(new Set(await readAll('#', 3)).size).toBe(10);
    });
  });
}
