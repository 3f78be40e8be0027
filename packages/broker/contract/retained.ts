import { beforeEach, describe, expect, it } from 'vitest';
import { type Message, type RetainedStore, retainedBytes } from '../src/index.ts';
import { retainedPagesContract } from './retained-pages.ts';
import { retainedWalk } from './retained-walk.ts';
import {
  type ContractOptions,
  type MakeStores,
  messageId,
  messageOf,
  NOW_MS,
  unique,
  upTo,
} from './support.ts';

const MAXIMUM = 10_000;

/** The contract of every `RetainedStore`. */
export function retainedStoreContract(
  name: string,
  makeStores: MakeStores,
  { countsAreExact = true }: ContractOptions = {},
): void {
  describe(`${name}: RetainedStore`, () => {
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
        upTo(MAXIMUM),
      );
    const page = async (filter: string, from?: string, limit = 100, nowMs = NOW_MS) =>
      await retained.match(tenant, filter, nowMs, from, { messages: limit, bytes: Number.POSITIVE_INFINITY });
    /** Topics and ids of all pages. */
    const found = async (filter: string, nowMs = NOW_MS) => {
      const messages: Message[] = [];
      let from: string | undefined;
      do {
        const each = await page(filter, from, 100, nowMs);
        messages.push(...each.messages);
        from = each.next;
      } while (from !== undefined);
      return messages.map(({ topic, id }) => `${topic} ${Number.parseInt(id, 36)}`).sort();
    };

    describe('put', () => {
      it('keeps the whole message', async () => {
        const message = messageOf({
          topic: 'a/b',
          qos: 2,
          retain: true,
          properties: {
            contentType: 'text',
            userProperties: [
              ['k', 'v'],
              ['k', 'w'],
            ],
          },
          expiresAtMs: NOW_MS + 1000,
          publisherKey: 'publisher',
        });
        expect(await retained.put(tenant, message, upTo(MAXIMUM))).toBe(true);
        const { messages, next } = await page('a/b');
        expect(next).toBeUndefined();
        expect(messages.map((each) => ({ ...each, payload: Buffer.from(each.payload) }))).toEqual([message]);
      });

      it('keeps no more in one name than its holder may have, whatever its tenant may [SEC-QUOTA-8]', async () => {
        const holder = (name: string) => ({ tenant, kind: 'identity', name }) as const;
        const bytesMax = 3 * retainedBytes(messageOf({ topic: 'a' }));
        const putBy = async (name: string, topic: string, id: number, payload = 'p') => {
          const message = messageOf({
            topic,
            id: messageId(id),
            retain: true,
            payload: Buffer.from(payload),
          });
          const limits = { ...upTo(MAXIMUM), holder: { holder: holder(name), messagesMax: 2, bytesMax } };
          const wasExpected = await retained.hasRoom?.(tenant, message, limits);
          const isPut = await retained.put(tenant, message, limits);
          expect(wasExpected ?? isPut).toBe(isPut);
          return isPut;
        };
        expect(await putBy('ada', 'a', 1)).toBe(true);
        expect(await putBy('ada', 'b', 2)).toBe(true);
        expect(await putBy('ada', 'c', 3)).toBe(false);
        expect(await putBy('bob', 'c', 4)).toBe(true);
        // Its own may be replaced, by one that its bytes have room for; another's counts as one more.
        expect(await putBy('ada', 'a', 5, 'q')).toBe(true);
        expect(await putBy('ada', 'a', 6, 'q'.repeat(bytesMax))).toBe(false);
        expect(await putBy('ada', 'c', 7)).toBe(false);
        expect(await found('#')).toEqual(['a 5', 'b 2', 'c 4']);
        // A removed message, or one that another replaced, counts for it no more.
        expect(await putBy('bob', 'a', 8)).toBe(true);
        expect(await putBy('ada', 'd', 9)).toBe(true);
        await retained.delete(tenant, 'b', messageId(10));
        expect(await putBy('ada', 'e', 11)).toBe(true);
        expect(await putBy('ada', 'f', 12)).toBe(false);
        expect(await put('f', 13)).toBe(true);
      });

      it('compares ids as strings, not as numbers of any length', async () => {
        await put('a', 35);
        await put('a', 36);
        expect(await found('a')).toEqual(['a 36']);
      });

      // A store that samples its numbers refuses a topic somewhat later.
      if (countsAreExact)
        it('keeps as many topics as the maximum, and not one more', async () => {
          const putAtMost2 = async (topic: string, id: number) =>
            await retained.put(tenant, messageOf({ topic, id: messageId(id) }), upTo(2));
          expect(await putAtMost2('a', 1)).toBe(true);
          expect(await putAtMost2('b', 2)).toBe(true);
          expect(await putAtMost2('c', 3)).toBe(false);
          // A topic that has a message may replace it.
          expect(await putAtMost2('a', 4)).toBe(true);
          expect(await found('#')).toEqual(['a 4', 'b 2']);
          await retained.delete(tenant, 'b', messageId(5));
          expect(await putAtMost2('c', 6)).toBe(true);
        });

      if (countsAreExact)
        it('[SEC-MEMORY-3] keeps as many bytes as the maximum, and not one more', async () => {
          const payloadOf = (bytes: number) => Buffer.alloc(bytes, 'x');
          const one = messageOf({ topic: 'a', payload: payloadOf(100) });
          const limits = { messagesMax: 10, bytesMax: 2 * retainedBytes(one) };
          const putSmall = async (topic: string, id: number, fields: Partial<Message>) =>
            await retained.put(tenant, messageOf({ topic, id: messageId(id), ...fields }), limits);
          expect(await putSmall('a', 1, { payload: payloadOf(100) })).toBe(true);
          expect(await putSmall('b', 2, { payload: payloadOf(101) })).toBe(false);
          expect(await putSmall('b', 3, { payload: payloadOf(100) })).toBe(true);
          // A topic's message may be replaced by one that is no larger.
          expect(await putSmall('b', 4, { payload: payloadOf(101) })).toBe(false);
          expect(await putSmall('b', 5, { payload: payloadOf(90) })).toBe(true);
          expect(await putSmall('a', 6, { payload: payloadOf(110) })).toBe(true);
          expect(await found('#')).toEqual(['a 6', 'b 5']);
          await retained.delete(tenant, 'b', messageId(7));
          expect(await putSmall('c', 8, { payload: payloadOf(90) })).toBe(true);
          // Properties count: a message is not small for having no payload to speak of.
          const userProperties: [string, string][] = [['k', 'v'.repeat(90)]];
          await retained.delete(tenant, 'c', messageId(9));
          expect(await putSmall('c', 10, { payload: payloadOf(1), properties: { userProperties } })).toBe(
            false,
          );
        });

      it('may replace a message by one that is no larger, however full it is', async () => {
        await put('a', 1, { payload: Buffer.alloc(100, 'x') });
        const smaller = messageOf({ topic: 'a', id: messageId(2), payload: Buffer.alloc(100, 'y') });
        expect(await retained.put(tenant, smaller, { messagesMax: 0, bytesMax: 0 })).toBe(true);
        expect(await found('a')).toEqual(['a 2']);
      });

      // A store with sampled counts does not refuse at so small a maximum, so the test would show nothing.
      if (countsAreExact)
        it('counts each tenant for itself', async () => {
          expect(await retained.put(tenant, messageOf(), upTo(1))).toBe(true);
          expect(await retained.put(unique('tenant'), messageOf(), upTo(1))).toBe(true);
        });
    });

    describe('delete', () => {
      it('leaves one with a later id', async () => {
        await put('a', 3);
        await retained.delete(tenant, 'a', messageId(2));
        expect(await found('a')).toEqual(['a 3']);
        await retained.delete(tenant, 'a', messageId(3));
        expect(await found('a')).toEqual([]);
      });

      it('leaves other tenants theirs', async () => {
        await put('a', 1);
        await retained.delete(unique('tenant'), 'a', messageId(2));
        expect(await found('a')).toEqual(['a 1']);
      });
    });

    describe('match', () => {
      it('keeps tenants apart', async () => {
        await put('a');
        expect(
          await retained.match(unique('tenant'), '#', NOW_MS, undefined, { messages: 100, bytes: 1000 }),
        ).toMatchObject({
          messages: [],
          next: undefined,
        });
      });

      it('does not show expired messages', async () => {
        await put('gone', 1, { expiresAtMs: NOW_MS + 1000 });
        await put('stays', 1, { expiresAtMs: NOW_MS + 1001 });
        expect(await found('#', NOW_MS + 999)).toEqual(['gone 1', 'stays 1']);
        expect(await found('#', NOW_MS + 1000)).toEqual(['stays 1']);
      });

      it('keeps a message that replaced an expired one', async () => {
        await put('a', 1, { expiresAtMs: NOW_MS });
        expect(await found('a')).toEqual([]);
        await put('a', 2);
        expect(await found('a')).toEqual(['a 2']);
      });
    });

    retainedPagesContract(makeStores);

    it('agrees with a list that is searched from end to end, in any order of calls', async () => {
      await retainedWalk(retained);
    });
  });
}
