import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Message,
  readStreams,
  type StreamDeclaration,
  type StreamEntry,
  type StreamStore,
  type StreamTail,
  type StreamTopicTail,
} from '../src/index.ts';
import { NOW_MS, numberedMessage } from './samples.ts';

/** Everything, in one page. */
const ALL = { messages: 1000, bytes: Number.POSITIVE_INFINITY };

const KEEP_SECONDS = 60;

const [SNAPSHOT] = readStreams(
  [{ name: 'v', topicFilter: 'v/#', messagesMax: 3, keepSeconds: KEEP_SECONDS, snapshot: true }],
  'streams',
).all as [StreamDeclaration];

/** The part of the contract of a `StreamStore` about last values. */
export function snapshotContract(
  made: () => { readonly store: StreamStore; readonly tenant: string },
  noticesEpochs: boolean,
): void {
  describe('the snapshot of a topic', () => {
    let [store, tenant] = [] as unknown as [StreamStore, string];

    beforeEach(() => {
      ({ store, tenant } = made());
    });

    const DAY_LATER_MS = NOW_MS + 24 * 3600 * 1000;

    const appendKey = async (
      key: string | undefined,
      number: number,
      fields: Partial<Message> = {},
      nowMs = NOW_MS,
    ) => {
      const message = numberedMessage(number, { topic: 'v/a', ...fields });
      const appended = await store.append(tenant, SNAPSHOT, message, { key, nowMs, isForced: false });
      if (typeof appended === 'string') throw new Error(appended);
      await appended.written;
    };
    const values = async (nowMs = NOW_MS) => {
      const end = (await store.tail(tenant, SNAPSHOT, 'v/a', nowMs)) as StreamTail;
      const entries = await store.lastValues(tenant, SNAPSHOT, { topic: 'v/a', ...end }, 0, ALL, nowMs);
      return (entries as StreamEntry[]).map(({ epoch, key, number }) => {
        expect(epoch).toBe(end.epoch);
        return `${key} ${number}`;
      });
    };

    it('has the last value of each key in the order of their numbers, however old it is', async () => {
      for (const [index, key] of ['a', 'b', 'a', 'c', 'c', 'c', 'c', 'c', 'c', 'c'].entries())
        await appendKey(key, index + 1);
      expect(await values()).toEqual(['b 2', 'a 3', 'c 10']);
      // History is over, and another topic has looked after it.
      for (let number = 11; number <= 20; number += 1)
        await appendKey('x', number, { topic: 'v/b' }, DAY_LATER_MS);
      expect(await values(DAY_LATER_MS)).toEqual(['b 2', 'a 3', 'c 10']);
      const tails = await store.topics(tenant, SNAPSHOT, 'v/+', 10, DAY_LATER_MS);
      const lasts = tails === 'too-many' ? [] : tails.map(({ topic, last }) => `${topic} ${last}`);
      expect(lasts.sort()).toEqual(['v/a 10', 'v/b 10']);
      await appendKey('b', 21, {}, DAY_LATER_MS);
      expect(await values(DAY_LATER_MS)).toEqual(['a 3', 'c 10', 'b 11']);
    });

    it('has no key whose last message is empty, or has expired', async () => {
      await appendKey('a', 1);
      await appendKey('b', 2, { expiresAtMs: NOW_MS + 1000 });
      await appendKey(undefined, 3);
      await appendKey('a', 4, { payload: Buffer.alloc(0) });
      expect(await values()).toEqual(['b 2', 'undefined 3']);
      expect(await values(NOW_MS + 1001)).toEqual(['undefined 3']);
    });

    it('has the present epoch, also of values from before', async () => {
      await appendKey('a', 1);
      await store.newEpoch(tenant, 'v/a');
      expect(await values()).toEqual(['a 1']);
    });

    it('holds no topic that has no value any more', async () => {
      await appendKey('a', 1);
      await appendKey('a', 2, { payload: Buffer.alloc(0) });
      expect(await store.topics(tenant, SNAPSHOT, 'v/+', 10, NOW_MS + 1000 * (KEEP_SECONDS + 61))).toEqual(
        [],
      );
    });

    describe('read by pages', () => {
      const end = async () => {
        const tail = await store.tail(tenant, SNAPSHOT, 'v/a', NOW_MS);
        return { topic: 'v/a', ...(tail as StreamTail) };
      };
      /** Numbers of one page. */
      const page = async (tail: StreamTopicTail, after: number, messages: number, bytes = ALL.bytes) => {
        const found = await store.lastValues(tenant, SNAPSHOT, tail, after, { messages, bytes }, NOW_MS);
        return found === 'lost' ? found : found.map(({ number }) => number);
      };
      const pages = async (
        tail: StreamTopicTail,
        messages: number,
        between = async (_last: number) => {},
      ) => {
        const all: number[] = [];
        for (let at = 0; ; ) {
          const numbers = await page(tail, at, messages);
          if (numbers === 'lost' || numbers.length === 0) return all;
          expect(numbers.length).toBeLessThanOrEqual(messages);
          all.push(...numbers);
          at = numbers.at(-1) ?? at;
          await between(at);
        }
      };

      it('is the whole of it, each value once, whatever pages hold', async () => {
        for (const [index, key] of [...'abacabadabacabae'].entries()) await appendKey(key, index + 1);
        const tail = await end();
        const whole = [8, 12, 14, 15, 16];
        for (const messages of [1, 2, 3, 5, 9]) expect(await pages(tail, messages)).toEqual(whole);
        expect(await page(tail, 8, 10, 1), 'at least one, however large').toEqual([12]);
        expect(await page(tail, 11, 1), 'from any number on').toEqual([12]);
      });

      it('has a value that changes between two pages in its page or in the history, and no other twice', async () => {
        for (const [index, key] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) await appendKey(key, index + 1);
        const tail = await end();
        const read = await pages(tail, 2, async (last) => {
          if (last !== 2) return;
          await appendKey('a', 7);
          await appendKey('c', 8);
          await appendKey('g', 9);
          await appendKey('e', 10, { payload: Buffer.alloc(0) });
        });
        expect(read).toEqual([1, 2, 4, 6]);
        const history = await store.read(tenant, 'v/a', tail.epoch, tail.last, ALL);
        expect((history as StreamEntry[]).map(({ number }) => number)).toEqual([7, 8, 9, 10]);
      });

      it('leaves out those that have expired, which end no page before its time', async () => {
        for (let number = 1; number <= 9; number += 1)
          await appendKey(`k${number}`, number, number % 4 === 0 ? {} : { expiresAtMs: NOW_MS - 1 });
        expect(await pages(await end(), 2)).toEqual([4, 8]);
      });

      it('is lost when its epoch ends', async ({ skip }) => {
        if (!noticesEpochs) return skip('at this store a reader asks for one page');
        for (let number = 1; number <= 3; number += 1) await appendKey(`k${number}`, number);
        const tail = await end();
        expect(await page(tail, 0, 2)).toEqual([1, 2]);
        await store.newEpoch(tenant, 'v/a');
        expect(await page(tail, 2, 2)).toBe('lost');
      });
    });
  });
}
