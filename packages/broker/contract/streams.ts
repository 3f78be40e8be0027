import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Awaitable,
  type Message,
  ORIGINS_MAX,
  readStreams,
  type StreamDeclaration,
  type StreamEntry,
  type StreamStore,
  type StreamTail,
} from '../src/index.ts';
import { NOW_MS, numberedMessage } from './samples.ts';
import { snapshotContract } from './snapshots.ts';
import { unique } from './support.ts';

/** Everything, in one page. */
const ALL = { messages: 1000, bytes: Number.POSITIVE_INFINITY };

const KEEP_SECONDS = 60;

const [STREAM] = readStreams(
  [
    {
      name: 's',
      topicFilter: 's/#',
      messagesMax: 10,
      keepSeconds: KEEP_SECONDS,
      bytesMax: 100_000,
      topicsMax: 20,
    },
  ],
  'streams',
).all as [StreamDeclaration];

export interface StreamContractOptions {
  /** Messages far beyond the number that the stream hands out are dropped, and not only when they are old. */
  readonly dropsBeyondCount?: boolean;
  /** Topics that are over count no more; elsewhere they do until TTL removes them. */
  readonly forgetsTopics?: boolean;
  /** A reader of values by pages learns that the epoch of the topic has changed. */
  readonly noticesEpochs?: boolean;
  /** Readers may not have a message that its source hands over again, and so are sent it again under its number. */
  readonly sendsAgain?: boolean;
  /** Sources of messages that a topic remembers. */
  readonly originsMax?: number;
}

/** The contract of every `StreamStore`. Each test has a tenant of its own. */
export function streamStoreContract(
  name: string,
  makeStore: () => Awaitable<StreamStore>,
  {
    dropsBeyondCount = true,
    forgetsTopics = true,
    noticesEpochs = true,
    sendsAgain = false,
    originsMax = ORIGINS_MAX,
  }: StreamContractOptions = {},
): void {
  describe(`${name}: StreamStore`, () => {
    let tenant: string;
    let store: StreamStore;

    beforeEach(async () => {
      tenant = unique('tenant');
      store = await makeStore();
    });

    const append = async (topic: string, number: number, fields: Partial<Message> = {}, nowMs = NOW_MS) => {
      const message = numberedMessage(number, { topic, ...fields });
      const options = { key: undefined, nowMs, isForced: false };
      const appended = await store.append(tenant, STREAM, message, options);
      if (typeof appended === 'string') throw new Error(appended);
      await appended.written;
      return appended.entry;
    };
    const fill = async (topic: string, count: number, nowMs = NOW_MS) => {
      for (let number = 1; number <= count; number += 1) await append(topic, number, {}, nowMs);
    };
    const tail = async (topic: string, nowMs = NOW_MS) => {
      const found = { topic, ...((await store.tail(tenant, STREAM, topic, nowMs)) as StreamTail) };
      return { ...found, firstKept: await store.firstKept(tenant, STREAM, found, 1, nowMs) };
    };
    const topics = async (filter: string, countMax: number, nowMs = NOW_MS) => {
      const tails = await store.topics(tenant, STREAM, filter, countMax, nowMs);
      return tails === 'too-many' ? tails : tails.map(({ topic }) => topic).sort();
    };
    const read = async (topic: string, after: number, limit = ALL) => {
      const { epoch } = await tail(topic);
      const page = await store.read(tenant, topic, epoch, after, limit);
      return page === 'lost' ? page : numbersOf(page);
    };

    it('numbers the messages of each topic from 1, without a gap, in one epoch', async () => {
      const [a1, b1, a2] = [await append('s/a', 1), await append('s/b', 2), await append('s/a', 3)];
      expect([a1.number, b1.number, a2.number]).toEqual([1, 1, 2]);
      expect(a1.epoch).toBe(a2.epoch);
      expect(a1.epoch).toMatch(/^[0-9a-z]{1,32}$/);
      expect(await tail('s/a')).toMatchObject({ epoch: a1.epoch, last: 2, firstKept: 1 });
    });

    it('gives back the whole message, its time and its key', async () => {
      const message = numberedMessage(1, {
        topic: 's/a',
        qos: 2,
        properties: { contentType: 'text', userProperties: [['k', 'v']] },
        publisherKey: 'publisher',
      });
      await store.append(tenant, STREAM, message, { key: 'k', nowMs: NOW_MS, isForced: false });
      const { epoch } = await tail('s/a');
      const [entry] = (await store.read(tenant, 's/a', epoch, 0, ALL)) as StreamEntry[];
      expect(entry).toMatchObject({ number: 1, tsMs: NOW_MS, key: 'k' });
      const { payload, ...others } = (entry as StreamEntry).message;
      const { payload: sent, ...expected } = message;
      expect(others).toEqual(expected);
      expect(Buffer.from(payload)).toEqual(sent);
    });

    it('has times that never go back, whatever the clock does', async () => {
      await append('s/a', 1, {}, NOW_MS + 5);
      expect((await append('s/a', 2, {}, NOW_MS)).tsMs).toBe(NOW_MS + 5);
    });

    it('opens a topic that is read first: its beginning is a position', async () => {
      const { epoch, last, firstKept } = await tail('s/a');
      expect([last, firstKept]).toEqual([0, 1]);
      expect(await append('s/a', 1)).toMatchObject({ epoch, number: 1 });
      expect(await read('s/a', 0)).toEqual([1]);
    });

    it('reads pages of at most so many messages and bytes, and at least one', async () => {
      await fill('s/a', 5);
      expect(await read('s/a', 0, { messages: 2, bytes: 1e6 })).toEqual([1, 2]);
      expect(await read('s/a', 2, { messages: 2, bytes: 1 })).toEqual([3]);
      expect(await read('s/a', 5)).toEqual([]);
    });

    it('hands out no more messages than the stream says', async () => {
      await fill('s/a', 12);
      expect(await tail('s/a')).toMatchObject({ last: 12, firstKept: 3 });
    });

    it('hands out no more bytes than the stream says, and at least the newest message that fits', async () => {
      for (const number of [1, 2, 3]) await append('s/a', number, { payload: Buffer.alloc(40_000) });
      expect(await tail('s/a')).toMatchObject({ last: 3, firstKept: 2 });
    });

    it('hands out no message for longer than the stream says', async () => {
      await append('s/a', 1, {}, NOW_MS);
      await append('s/a', 2, {}, NOW_MS + 1000);
      const laterMs = NOW_MS + KEEP_SECONDS * 1000;
      expect(await tail('s/a', laterMs)).toMatchObject({ firstKept: 1 });
      expect(await tail('s/a', laterMs + 1)).toMatchObject({ firstKept: 2, last: 2 });
      expect(await tail('s/a', laterMs + 1001)).toMatchObject({ firstKept: 3, last: 2 });
    });

    it('keeps more than it hands out for a reader that has begun, and says when it has lost it', async () => {
      await fill('s/a', 15);
      expect(await read('s/a', 1)).toHaveLength(14);
      for (let number = 16; number <= 40; number += 1) await append('s/a', number);
      // Never a part of it.
      if (dropsBeyondCount) expect(await read('s/a', 1)).toBe('lost');
      else expect(await read('s/a', 1)).toHaveLength(39);
      const { firstKept } = await tail('s/a');
      expect(await read('s/a', firstKept - 1)).toHaveLength(10);
    });

    it('hands out the kept messages from a number on', async () => {
      await fill('s/a', 12);
      const end = await tail('s/a');
      const from = async (number: number) => await store.firstKept(tenant, STREAM, end, number, NOW_MS);
      expect([await from(2), await from(3), await from(7), await from(13)]).toEqual([3, 3, 7, 13]);
    });

    it('knows since when a topic is complete', async () => {
      await append('s/a', 1, {}, NOW_MS);
      const isComplete = async (tsMs: number, nowMs: number) =>
        (await store.since(tenant, STREAM, await tail('s/a', nowMs), tsMs, nowMs)).isComplete;
      expect(await isComplete(NOW_MS, NOW_MS)).toBe(true);
      expect(await isComplete(NOW_MS - 1000, NOW_MS)).toBe(false);
      for (let number = 2; number <= 12; number += 1) await append('s/a', number, {}, NOW_MS + number);
      const laterMs = NOW_MS + 12;
      expect(await isComplete(NOW_MS + 3, laterMs)).toBe(true);
      expect(await isComplete(NOW_MS + 2, laterMs)).toBe(false);
    });

    it('finds the first message of a time', async () => {
      for (const [number, afterMs] of [
        [1, 0],
        [2, 10],
        [3, 10],
        [4, 20],
      ] as const)
        await append('s/a', number, {}, NOW_MS + afterMs);
      const end = await tail('s/a', NOW_MS + 20);
      const since = async (afterMs: number) =>
        (await store.since(tenant, STREAM, end, NOW_MS + afterMs, NOW_MS + 20)).number;
      expect([await since(-5), await since(1), await since(10), await since(20), await since(21)]).toEqual([
        1, 2, 2, 4, 5,
      ]);
    });

    it('finds a message that was appended before, by its id, and no other', async ({ skip }) => {
      if (store.findAppended === undefined) return skip('this store appends a repetition once more');
      await fill('s/a', 3);
      const found = await store.findAppended(tenant, 's/a', numberedMessage(2).id);
      expect(found?.entry.number).toBe(2);
      expect(await store.findAppended(tenant, 's/a', numberedMessage(4).id)).toBeUndefined();
      expect(await store.findAppended(tenant, 's/b', numberedMessage(2).id)).toBeUndefined();
    });

    it('finds a message whose id is lower than that of the message before it', async ({ skip }) => {
      if (store.findAppended === undefined) return skip('this store appends a repetition once more');
      await append('s/a', 6);
      await append('s/a', 5);
      expect((await store.findAppended(tenant, 's/a', numberedMessage(6).id))?.entry.number).toBe(1);
    });

    describe('a message that its source hands over again', () => {
      const isFound = !sendsAgain;

      const from = async (source: string, number: number, text: string) => {
        const message = numberedMessage(number, {
          id: unique('id'),
          topic: 's/a',
          payload: Buffer.from(text),
        });
        const options = { key: 'k', nowMs: NOW_MS, isForced: false, origin: { source, number } };
        const appended = await store.append(tenant, STREAM, message, options);
        if (typeof appended === 'string') return appended;
        const { entry } = appended;
        return [
          entry.number,
          Buffer.from(entry.message.payload).toString(),
          entry.key,
          appended.isFound ?? false,
        ];
      };

      it('keeps its place, and is the message that was there before', async () => {
        expect(await from('p/0', 7, 'first')).toEqual([1, 'first', 'k', false]);
        expect(await from('p/0', 7, 'again')).toEqual([1, 'first', 'k', isFound]);
        expect(await from('p/0', 9, 'second')).toEqual([2, 'second', 'k', false]);
        expect(await tail('s/a')).toMatchObject({ last: 2 });
      });

      it('gets no place behind a later one of the source', async () => {
        await from('p/0', 7, 'first');
        await from('p/0', 9, 'second');
        const again = sendsAgain ? [1, 'first', 'k', false] : 'repeated';
        expect(await from('p/0', 7, 'again')).toEqual(again);
        if (!sendsAgain) expect(await from('p/0', 8, 'never came')).toBe('repeated');
        expect(await tail('s/a')).toMatchObject({ last: 2 });
      });

      it('is not the message of another source with its number', async () => {
        await from('p/0', 7, 'zero');
        expect(await from('p/1', 7, 'one')).toEqual([2, 'one', 'k', false]);
        if (!sendsAgain) expect(await from('p/1', 3, 'one')).toBe('repeated');
        expect(await from('p/0', 8, 'zero')).toEqual([3, 'zero', 'k', false]);
      });

      it('gets no place when the log does not keep it any more', async () => {
        await from('p/0', 7, 'first');
        await fill('s/a', 40);
        expect(await from('p/0', 7, 'again')).toEqual(
          dropsBeyondCount ? 'repeated' : [1, 'first', 'k', isFound],
        );
        expect(await tail('s/a')).toMatchObject({ last: 41 });
      });

      it('may have a number beyond 32 bits', async () => {
        await from('p/0', 2 ** 52, 'first');
        expect(await from('p/0', 2 ** 52, 'again')).toEqual([1, 'first', 'k', isFound]);
        expect(await from('p/0', 2 ** 52 + 1, 'second')).toEqual([2, 'second', 'k', false]);
      });

      it('is known where a topic has more sources than it remembers', async () => {
        for (let each = 0; each <= originsMax; each += 1) await from(`p/${each}`, 1, 'x');
        expect(await from(`p/${originsMax}`, 1, 'x')).toEqual([originsMax + 1, 'x', 'k', isFound]);
        // One of them is forgotten, and gets another place.
        for (let each = originsMax; each >= 0; each -= 1) await from(`p/${each}`, 1, 'x');
        const { last } = await tail('s/a');
        expect(last).toBeGreaterThan(originsMax + 1);
      });
    });

    it('has the last value of each key, and no key that an empty payload has deleted', async () => {
      for (const [number, key, text] of [
        [1, 'x', 'a'],
        [2, 'y', 'b'],
        [3, 'x', 'c'],
        [4, 'z', 'd'],
        [5, 'z', ''],
      ] as const) {
        const message = numberedMessage(number, { topic: 's/a', payload: Buffer.from(text) });
        await store.append(tenant, STREAM, message, { key, nowMs: NOW_MS, isForced: false });
      }
      const end = await tail('s/a');
      const values = await store.lastValues(tenant, STREAM, end, 0, ALL, NOW_MS);
      expect(numbersOf(values as StreamEntry[])).toEqual([2, 3]);
      expect(await store.lastValues(tenant, STREAM, end, 0, ALL, NOW_MS + 61_000)).toEqual([]);
    });

    snapshotContract(() => ({ store, tenant }), noticesEpochs);

    it('lists the topics that a filter matches, up to a number', async () => {
      for (const topic of ['s/a', 's/b', 's/b/c']) await append(topic, 1);
      expect(await topics('s/+', 10)).toEqual(['s/a', 's/b']);
      expect(await topics('s/a', 1)).toEqual(['s/a']);
      expect(await topics('s/#', 3)).toHaveLength(3);
      expect(await topics('s/#', 2)).toBe('too-many');
      const { epoch, last } = await tail('s/b/c');
      const found = await store.topics(tenant, STREAM, 's/b/#', 10, NOW_MS);
      expect(found).toContainEqual(expect.objectContaining({ topic: 's/b/c', epoch, last }));
    });

    it('has no more topics than the stream says, but for messages that cannot be refused', async () => {
      for (let number = 1; number <= 20; number += 1) await append(`s/${number}`, number);
      const options = { key: undefined, nowMs: NOW_MS, isForced: false };
      const message = numberedMessage(21, { topic: 's/21' });
      expect(await store.append(tenant, STREAM, message, options)).toBe('full');
      expect(await store.tail(tenant, STREAM, 's/22', NOW_MS)).toBe('full');
      expect(await store.append(tenant, STREAM, message, { ...options, isForced: true })).not.toBe('full');
    });

    it('has no more topics of one publisher than that one leaves to others [SEC-POOL-7]', async () => {
      let number = 0;
      const open = async (holder: string, nowMs = NOW_MS, isForced = false) => {
        number += 1;
        const message = numberedMessage(number, { topic: `s/${holder}/${number}` });
        return (
          (await store.append(tenant, STREAM, message, { key: undefined, nowMs, isForced, holder })) !==
          'full'
        );
      };
      const openAll = async (holder: string, nowMs = NOW_MS) => {
        let opened = 0;
        while (await open(holder, nowMs)) opened += 1;
        return opened;
      };
      expect(await openAll('greedy')).toBe(10);
      expect(await store.tail(tenant, STREAM, 's/read', NOW_MS, 'greedy')).toBe('full');
      expect(await openAll('second')).toBe(5);
      expect(await store.tail(tenant, STREAM, 's/read', NOW_MS, 'honest')).not.toBe('full');
      expect(await open('honest')).toBe(true);
      expect(await open('greedy', NOW_MS, true), 'a will').toBe(true);
      // Topics that are there are open to all.
      const message = numberedMessage(500, { topic: 's/read' });
      const options = { key: undefined, nowMs: NOW_MS, isForced: false, holder: 'greedy' };
      expect(await store.append(tenant, STREAM, message, options)).not.toBe('full');
      if (!forgetsTopics) return;
      const laterMs = NOW_MS + 3 * KEEP_SECONDS * 1000 + 60_001;
      for (let count = 0; count < 30; count += 1) await append('s/another', 1_000 + count, {}, laterMs);
      expect(await openAll('greedy', laterMs)).toBeGreaterThan(5);
    });

    it('forgets topics of which nothing is handed out any more: then they begin anew, in another epoch', async () => {
      const before = await append('s/old', 1);
      const laterMs = NOW_MS + KEEP_SECONDS * 1000 + 60_001;
      for (let number = 1; number <= 5; number += 1) await append('s/new', number, {}, laterMs);
      expect(await topics('s/#', 10, laterMs)).toEqual(['s/new']);
      const after = await tail('s/old', laterMs);
      expect(after.last).toBe(0);
      expect(after.epoch).not.toBe(before.epoch);
    });

    it('ends the continuity of a topic with another epoch: its messages and its count stay', async () => {
      await fill('s/a', 3);
      const before = await tail('s/a');
      const epoch = await store.newEpoch(tenant, 's/a');
      expect(await tail('s/a')).toMatchObject({ epoch, last: 3, firstKept: 1 });
      expect(await store.read(tenant, 's/a', before.epoch, 0, ALL)).toBe('lost');
      const entries = (await store.read(tenant, 's/a', epoch as string, 1, ALL)) as StreamEntry[];
      expect(entries.map((entry) => [entry.epoch, entry.number])).toEqual([
        [epoch, 2],
        [epoch, 3],
      ]);
      expect(await store.newEpoch(tenant, 's/none')).toBeUndefined();
    });

    it('keeps tenants apart', async () => {
      await append('s/a', 1);
      const [mine, other] = [tenant, unique('tenant')];
      tenant = other;
      expect(await tail('s/a')).toMatchObject({ last: 0 });
      tenant = mine;
      expect(await store.figures(tenant, STREAM)).toMatchObject({ topics: 1, messages: 1 });
    });
  });
}

function numbersOf(entries: readonly StreamEntry[]): number[] {
  return entries.map(({ number }) => number);
}
