import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readStreams } from '@apus/broker';
import { attachmentOf, messageId, openedOf, openOf, ROOMY, subscriptionTo, upTo } from '@apus/broker/samples';
import { createDiskStores, type DiskStores } from '@apus/store-disk';
import { MemoryBudget } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import { deliveryTo, messageOf, NOW_MS } from './support/values.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const clock = { now: () => NOW_MS };
const STREAMS = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 100_000 }], 'streams');
const PAYLOAD_BYTES = 16;
/** Memory of the test itself that a collection leaves, and that maps have reserved. */
const TOLERANCE = 1.15;

function takenBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function open(stores: DiskStores, clientId: string, receiveMaximum: number) {
  const attachment = attachmentOf(clientId, { receiveMaximum });
  return openedOf(await stores.sessions.open(openOf(clientId, { attachment, expirySeconds: 600 }))).session;
}

async function queue(stores: DiskStores, qos: 1 | 2, receiveMaximum: number): Promise<void> {
  for (let number = 0; number < 50; number += 1) {
    const session = await open(stores, `c${number}`, receiveMaximum);
    const offers = Array.from({ length: 100 }, (_, index) => {
      const payload = new Uint8Array(PAYLOAD_BYTES);
      const message = messageOf(index, {
        qos,
        topic: `t/${index}`,
        id: messageId(number * 100 + index),
        payload,
      });
      return stores.queues.offer(message, [deliveryTo(session, { qos })], ROOMY, new Set());
    });
    await Promise.all(offers);
  }
}

/** Each message on the disk is in memory too, with its place on the disk. */
const FILLINGS: Readonly<Record<string, (stores: DiskStores) => Promise<void>>> = {
  sessions: async (stores) => {
    for (let batch = 0; batch < 20; batch += 1)
      await Promise.all(Array.from({ length: 200 }, (_, index) => open(stores, `c${batch}-${index}`, 10)));
  },
  'short filters': async (stores) => {
    for (let number = 0; number < 50; number += 1) {
      const session = await open(stores, `c${number}`, 10);
      const filters = Array.from({ length: 100 }, (_, index) => subscriptionTo(`${number}/${index}`));
      await stores.subscriptions.put(session, filters, 1_000);
    }
  },
  'retained messages': async (stores) => {
    for (let batch = 0; batch < 20; batch += 1) {
      const puts = Array.from({ length: 250 }, (_, index) => {
        const payload = new Uint8Array(PAYLOAD_BYTES);
        const message = messageOf(batch * 250 + index, { topic: `t/${batch}/${index}`, payload });
        return stores.retained.put('tenant', message, upTo(100_000));
      });
      await Promise.all(puts);
    }
  },
  'history of streams': async ({ streamStore }) => {
    const [stream] = STREAMS.all as [(typeof STREAMS.all)[number]];
    for (let number = 1; number <= 20_000; number += 1) {
      const message = messageOf(number, {
        topic: `s/${number % 10}`,
        payload: new Uint8Array(PAYLOAD_BYTES),
      });
      const options = { key: undefined, nowMs: NOW_MS, isForced: false };
      const appended = streamStore.append('t', stream, message, options);
      if (number % 1_000 === 0 && typeof appended !== 'string') await appended.written;
    }
  },
  'messages that wait at QoS 1': (stores) => queue(stores, 1, 1),
  'messages that wait at QoS 2': (stores) => queue(stores, 2, 1),
  'messages inflight': (stores) => queue(stores, 2, 100),
};

describe('the budget counts the memory that is used, or more, with a data directory', () => {
  it.each(Object.entries(FILLINGS))('%s [SEC-MEMORY-5]', async (_name, fill) => {
    const memory = new MemoryBudget();
    const stores = await createDiskStores({
      ...{ directory: temporaryDirectory(), clock, memory, streams: STREAMS },
    });
    const before = takenBytes();
    await fill(stores);
    const took = takenBytes() - before;
    expect(took).toBeLessThan(memory.bytes * TOLERANCE);
    await stores.close();
  });
});
