import { readStreams, type StreamDeclaration } from '@apus/broker';
import { numberedMessage } from '@apus/broker/samples';
import { describe, expect, it } from 'vitest';
import type { DynamoStreams } from '../../src/index.ts';
import { STREAM_REPEATED_MS } from '../../src/limits.ts';
import { NOW_MS, withService } from '../support/stores.ts';

const [STREAM] = readStreams([{ name: 's', topicFilter: 's/#' }], 'streams').all as [StreamDeclaration];
const ALL = { messages: 1_000, bytes: Number.POSITIVE_INFINITY };
let tenants = 0;

await withService((service) => {
  describe('a message that its source hands over again', () => {
    const stage = () => {
      tenants += 1;
      const tenant = `origins-${tenants}`;
      const from = async (streams: DynamoStreams, number: number | undefined, nowMs = NOW_MS) => {
        const message = numberedMessage(number ?? 0, { topic: 's/a', payload: Buffer.from(String(number)) });
        const origin = number === undefined ? undefined : { source: 'kafka/b/t/0', number };
        const options = { key: undefined, nowMs, isForced: false, origin };
        const appended = await streams.append(tenant, STREAM, message, options);
        return typeof appended === 'string' ? appended : appended.entry.number;
      };
      const texts = async (streams: DynamoStreams) => {
        const tail = await streams.tail(tenant, STREAM, 's/a', NOW_MS);
        const page = typeof tail === 'string' ? tail : await streams.read(tenant, 's/a', tail.epoch, 0, ALL);
        return typeof page === 'string'
          ? page
          : page.map(({ message }) => Buffer.from(message.payload).toString());
      };
      return { from, texts };
    };
    const make = () => service.make().streams;

    it('has one place where several handlers append it at the same time', async () => {
      const { from, texts } = stage();
      const handlers = [make(), make(), make()];
      expect(await Promise.all(handlers.map((each) => from(each, 7)))).toEqual([1, 1, 1]);
      expect(await texts(make())).toEqual(['7']);
    });

    it('is found among the messages of its event, which are appended without a read each', async () => {
      const { from, texts } = stage();
      const event = service.make().forEvent().streamStore;
      for (const number of [1, 2, undefined, 3]) await from(event, number);
      const again = service.make().forEvent().streamStore;
      const places = [];
      for (const number of [1, 2, 3, 4]) places.push(await from(again, number));
      expect(places).toEqual([1, 2, 4, 5]);
      expect(await texts(make())).toEqual(['1', '2', 'undefined', '3', '4']);
    });

    it('is appended once more when readers may take it for sent', async () => {
      const { from } = stage();
      const streams = make();
      await from(streams, 7);
      expect(await from(streams, 7, NOW_MS + STREAM_REPEATED_MS)).toBe(1);
      expect(await from(streams, 7, NOW_MS + STREAM_REPEATED_MS + 1)).toBe(2);
    });
  });
});
