import { readStreams, type StreamDeclaration, type StreamEntry, type StreamTail } from '@apus/broker';
import { numberedMessage } from '@apus/broker/samples';
import { describe, expect, it } from 'vitest';
import { FakeClock, failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

const [SNAPSHOT, PLAIN] = readStreams(
  [
    { name: 'v', topicFilter: 'v/#', keepSeconds: 60, snapshot: true },
    { name: 's', topicFilter: 's/#', keepSeconds: 60 },
  ],
  'streams',
).all as [StreamDeclaration, StreamDeclaration];

const ALL = { messages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
const DAY_MS = 24 * 3600 * 1000;
/** When TTL has taken the tiles of what was appended at `NOW_MS`. */
const TILES_GONE_MS = NOW_MS + 3 * DAY_MS;
let tenants = 0;

/** The partition of a write tells its kind. */
const isOf = (kind: string, input: object): boolean => {
  const { Item } = input as { Item?: { p?: { S?: string } } };
  return Item?.p?.S?.startsWith(`${kind}\0`) === true;
};

await withService((service) => {
  describe('the last values of a topic', () => {
    function topic(stream = SNAPSHOT) {
      tenants += 1;
      const tenant = `values-${tenants}`;
      const name = `${stream.name}/a`;
      return (hooks?: Hooks) => {
        const fakeClock = new FakeClock();
        const { streams } = service.make({ fakeClock, ...(hooks !== undefined && { hooks }) });
        const append = async (number: number, key: string | undefined, text = 'x', nowMs = NOW_MS) => {
          fakeClock.nowMs = nowMs;
          const message = numberedMessage(number, { topic: name, payload: Buffer.from(text) });
          return await streams.append(tenant, stream, message, { key, nowMs, isForced: false });
        };
        const tail = async (nowMs = NOW_MS): Promise<StreamTail> => {
          fakeClock.nowMs = nowMs;
          return (await streams.tail(tenant, stream, name, nowMs)) as StreamTail;
        };
        const values = async (nowMs = NOW_MS, end?: StreamTail) => {
          const at = { topic: name, ...(end ?? (await tail(nowMs))) };
          const entries: readonly StreamEntry[] = await streams.lastValues(tenant, stream, at, 0, ALL, nowMs);
          return entries.map(
            ({ key, number, message }) => `${key} ${number} ${Buffer.from(message.payload)}`,
          );
        };
        return { append, tail, values };
      };
    }

    it('are complete although the handler of the newest message has not written its value yet', async () => {
      const process = topic();
      let during: Promise<string[]> | undefined;
      const { append } = process({
        before: async (operation, input) => {
          if (operation !== 'PutItem' || !isOf('V', input)) return;
          during ??= process().values();
          await during;
        },
      });
      await append(1, 'a', 'new');
      expect(await during).toEqual(['a 1 new']);
    });

    it('are those of the newest messages, whichever handler comes to its write last', async () => {
      const process = topic();
      let isHeld = true;
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const late = process({
        before: async (operation, input) => {
          if (!isHeld || operation !== 'PutItem' || !isOf('V', input)) return;
          isHeld = false;
          await held;
        },
      });
      const first = late.append(1, 'a', 'old');
      await expect.poll(() => isHeld).toBe(false);
      const { append, values } = process();
      await append(2, 'a', 'new');
      release();
      await first;
      expect(await values(NOW_MS + DAY_MS)).toEqual(['a 2 new']);
    });

    it('have no key that was taken out, although a handler with an earlier value is late', async () => {
      const process = topic();
      const { append, values } = process();
      await append(1, 'a');
      await append(2, 'b');
      let isHeld = true;
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const late = process({
        before: async (operation, input) => {
          if (!isHeld || operation !== 'PutItem' || !isOf('V', input)) return;
          isHeld = false;
          await held;
        },
      });
      const third = late.append(3, 'a', 'late');
      await expect.poll(() => isHeld).toBe(false);
      await append(4, 'a', '');
      release();
      await third;
      expect(await values(NOW_MS + DAY_MS)).toEqual(['b 2 x']);
    });

    it('exclude values that were appended behind the end that the reader has read', async () => {
      const { append, tail, values } = topic()();
      await append(1, 'a', 'seen');
      await append(2, 'b', 'seen');
      const end = await tail();
      await append(3, 'c', 'later');
      expect(await values(NOW_MS, end)).toEqual(['a 1 seen', 'b 2 seen']);
    });

    it('outlive the messages: then the topic goes on behind them, in another epoch', async () => {
      const { append, tail, values } = topic()();
      await append(1, 'a', 'old');
      await append(2, 'b', 'old');
      const before = await tail();
      expect(await values(TILES_GONE_MS)).toEqual(['a 1 old', 'b 2 old']);
      const after = await tail(TILES_GONE_MS);
      expect(after).toMatchObject({ last: 2 });
      expect(after.epoch).not.toBe(before.epoch);
      // Once, and not with each look.
      expect((await tail(TILES_GONE_MS)).epoch).toBe(after.epoch);
      await append(3, 'a', 'new', TILES_GONE_MS);
      expect(await tail(TILES_GONE_MS)).toMatchObject({ epoch: after.epoch, last: 3 });
      expect(await values(TILES_GONE_MS)).toEqual(['b 2 old', 'a 3 new']);
    });

    it('are written once with each message, and never for a stream without a snapshot', async () => {
      const writesOf = async (stream: StreamDeclaration) => {
        const kinds: string[] = [];
        const { append } = topic(stream)({
          before: (operation, input) => {
            if (operation === 'PutItem') kinds.push(['L', 'T', 'V'].find((kind) => isOf(kind, input)) ?? '?');
          },
        });
        await append(1, 'a');
        kinds.length = 0;
        await append(2, 'a');
        return kinds;
      };
      expect(await writesOf(SNAPSHOT)).toEqual(['L', 'V']);
      expect(await writesOf(PLAIN)).toEqual(['L']);
    });

    it('leave the publisher without an answer where one cannot be written', async () => {
      const process = topic();
      const { append } = process({
        before: (operation, input) => {
          if (operation === 'PutItem' && isOf('V', input)) throw failure('TimeoutError');
        },
      });
      await expect(append(1, 'a')).rejects.toThrow();
    });
  });
});
