import { type Message, readStreams, type StreamAppended, type StreamDeclaration } from '@apus/broker';
import { numberedMessage } from '@apus/broker/samples';
import { describe, expect, it } from 'vitest';
import { STREAM_APPENDS_TRIED_MAX } from '../../src/index.ts';
import { FakeClock, failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

const KEEP_SECONDS = 60;
const [STREAM] = readStreams([{ name: 's', topicFilter: 's/#', keepSeconds: KEEP_SECONDS }], 'streams')
  .all as [StreamDeclaration];
let tenants = 0;

const ALL = { messages: 1000, bytes: Number.POSITIVE_INFINITY };

/** When nothing of what was appended at `NOW_MS` is handed out any more. */
const OVER_MS = NOW_MS + KEEP_SECONDS * 1000 + 60_001;

await withService((service) => {
  describe('the log of a topic', () => {
    function processes(hooks?: Hooks) {
      tenants += 1;
      const tenant = `tenant-${tenants}`;
      const tail = {
        tenant,
        read: async () => {
          const { streams } = service.make();
          const found = await streams.tail(tenant, STREAM, 's/a', NOW_MS);
          if (typeof found === 'string') throw new Error(found);
          return { topic: 's/a', ...found };
        },
      };
      const make = (each?: Hooks) => {
        const fakeClock = new FakeClock();
        const { streams } = service.make({ fakeClock, ...(each !== undefined && { hooks: each }) });
        const append = async (
          number: number,
          nowMs = NOW_MS,
          fields: Partial<Message> = {},
          key?: string,
        ) => {
          const message = numberedMessage(number, { topic: 's/a', ...fields });
          return await streams.append(tenant, STREAM, message, { key, nowMs, isForced: false });
        };
        const read = async (nowMs = NOW_MS) => {
          const tail = await streams.tail(tenant, STREAM, 's/a', nowMs);
          if (typeof tail === 'string') throw new Error(tail);
          const page = await streams.read(tenant, 's/a', tail.epoch, 0, ALL);
          return page === 'lost'
            ? page
            : page.map(({ number, message }) => [number, Buffer.from(message.payload).toString()]);
        };
        return { streams, append, read };
      };
      return { ...make(hooks), other: make(), tail };
    }

    it('gives each of many that append at the same time a place of its own, and leaves none free', async () => {
      const { append, other, streams } = processes();
      await append(0);
      const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
      const appended = await Promise.all(
        numbers.map((number) => (number % 2 === 0 ? append(number) : other.append(number))),
      );
      const places = appended.map((each) => (each as StreamAppended).entry.number);
      expect([...places].sort((a, b) => a - b)).toEqual(numbers.map((number) => number + 1));
      expect(streams).toBeDefined();
    });

    it('says that it is contended when others take every place that an append tries for', async () => {
      let taken = 0;
      const before = async (operation: string) => {
        if (operation !== 'PutItem' || taken >= STREAM_APPENDS_TRIED_MAX) return;
        taken += 1;
        await all.other.append(taken);
      };
      const all = processes({ before });
      await all.other.append(0);
      expect(await all.append(1000)).toBe('contended');
      expect(taken).toBe(STREAM_APPENDS_TRIED_MAX);
      expect(await all.append(1001)).toMatchObject({ entry: { number: taken + 2 } });
    });

    it('reads the end of the log once for all messages of an event, and takes the next places also where others come between', async () => {
      const asked: string[] = [];
      const { other } = processes();
      tenants += 1;
      const tenant = `tenant-${tenants}`;
      const hooks: Hooks = { before: (operation) => void asked.push(operation) };
      const event = service.make({ hooks }).forEvent();
      const appendTo = async (store: typeof other.streams, number: number) => {
        const message = numberedMessage(number, { topic: 's/a' });
        const options = { key: undefined, nowMs: NOW_MS, isForced: false };
        const appended = await store.append(tenant, STREAM, message, options);
        return typeof appended === 'string' ? appended : appended.entry.number;
      };
      expect(await appendTo(event.streamStore, 0)).toBe(1);
      asked.length = 0;
      expect(await appendTo(event.streamStore, 1)).toBe(2);
      expect(asked).toEqual(['PutItem']);
      for (const number of [2, 3, 4]) await appendTo(other.streams, number);
      asked.length = 0;
      expect(await appendTo(event.streamStore, 5)).toBe(6);
      expect(asked.filter((operation) => operation === 'Query')).toHaveLength(1);
      expect(await appendTo(event.streamStore, 6)).toBe(7);
      // The log has been left for the next one meanwhile.
      const late = { key: undefined, nowMs: OVER_MS, isForced: false };
      await other.streams.append(tenant, STREAM, numberedMessage(7, { topic: 's/a' }), late);
      expect(await appendTo(event.streamStore, 8)).toBe(2);
    });

    it('has a message once when the answer to its append is lost', async () => {
      let lost = 0;
      const after = (operation: string) => {
        if (operation !== 'PutItem' || lost > 0) return;
        lost += 1;
        throw failure('TimeoutError');
      };
      const { append, other } = processes({ after });
      await other.append(1);
      expect(await append(2)).toMatchObject({ entry: { number: 2 } });
      expect(lost).toBe(1);
      expect(await other.read()).toHaveLength(2);
    });

    it('ends the epoch of the log that it has read, and not of the next one', async () => {
      let next: StreamAppended | undefined;
      const before = async (operation: string) => {
        if (operation !== 'UpdateItem' || next !== undefined) return;
        next = (await all.other.append(2, OVER_MS)) as StreamAppended;
      };
      const all = processes({ before });
      await all.other.append(1);
      expect(await all.streams.newEpoch(`tenant-${tenants}`, 's/a')).toBe(next?.entry.epoch);
      expect(await all.other.append(3, OVER_MS)).toMatchObject({ entry: { epoch: next?.entry.epoch } });
    });

    it('keeps every message in the epoch that readers read, when two clocks disagree on whether it is over', async () => {
      let isBetween = false;
      const before = async (operation: string) => {
        if (operation !== 'PutItem' || isBetween) return;
        isBetween = true;
        // Its clock is ahead: it leaves the log, in which the late one is about to append.
        await all.other.append(3, OVER_MS);
      };
      const all = processes({ before });
      await all.other.append(1);
      const late = await all.append(2, NOW_MS + 1000);
      expect(late).toMatchObject({ entry: { number: 2 } });
      expect(await all.other.read(OVER_MS)).toEqual([
        [1, '3'],
        [2, '2'],
      ]);
    });

    it('reports the position up to which messages are stable: those older than ten seconds', async () => {
      const { append } = processes();
      const stableAt = async (afterMs: number) => {
        const appended = (await append(1, NOW_MS + afterMs)) as StreamAppended;
        return [appended.entry.number, appended.entry.stable];
      };
      expect(await stableAt(0)).toEqual([1, 0]);
      expect(await stableAt(9_999)).toEqual([2, 0]);
      expect(await stableAt(10_000)).toEqual([3, 1]);
      expect(await stableAt(30_000)).toEqual([4, 3]);
    });

    it('never reports a message as stable too early, at any rate of messages, and reports it in the end', async () => {
      const { append } = processes();
      const timesMs: number[] = [];
      for (let ms = 0; ms <= 40_000; ms += 700) {
        timesMs.push(ms);
        const { entry } = (await append(1, NOW_MS + ms)) as StreamAppended;
        const { stable = 0 } = entry;
        const stableMs = timesMs[stable - 1] ?? Number.NEGATIVE_INFINITY;
        expect(stableMs).toBeLessThanOrEqual(ms - 10_000);
        if (ms >= 14_000) expect(stableMs).toBeGreaterThan(ms - 14_000);
      }
    });
  });
});
