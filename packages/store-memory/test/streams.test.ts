import type { StreamDeclaration, StreamEntry, StreamTail } from '@apus/broker';
import { messageId, messageOf, NOW_MS } from '@apus/broker/samples';
import { createMemoryStores, MemoryBudget } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';

const STREAM: StreamDeclaration = {
  ...{ name: 'chat', topicFilter: 'chat/#', keepSeconds: 60, messagesMax: 1_000, bytesMax: 16 * 1024 * 1024 },
  ...{ topicsMax: 10_000, key: undefined, snapshot: false },
};
const BYTES_MAX = 4_000_000;
const LARGE = Buffer.alloc(100_000);

function storesWith(bytesMax?: number) {
  const memory = new MemoryBudget(bytesMax);
  const { streamStore } = createMemoryStores(memory);
  let last = 0;
  const append = (tenant: string, topic: string, nowMs = NOW_MS, payload = LARGE, isForced = false) => {
    last += 1;
    const message = messageOf({ topic, payload, id: messageId(last) });
    return streamStore.append(tenant, STREAM, message, { key: undefined, nowMs, isForced });
  };
  return { memory, streamStore, append };
}

describe('the streams of one tenant', () => {
  it('leave others a quarter of the memory, however much its clients publish [SEC-TENANT-9]', () => {
    const { memory, append } = storesWith(BYTES_MAX);
    let taken = 0;
    while (append('greedy', `chat/${taken}`) !== 'full') taken += 1;
    expect(memory.bytes).toBeGreaterThan(0.7 * BYTES_MAX);
    expect(memory.bytes).toBeLessThan(0.8 * BYTES_MAX);
    expect(append('greedy', 'chat/0')).toBe('full');
    for (let count = 0; count < 5; count += 1) expect(append('honest', 'chat/0')).not.toBe('full');
    expect(memory.isQueueFull('greedy')).toBe(true);
    expect(memory.isQueueFull('honest')).toBe(false);
    expect(memory.isFull).toBe(false);
  });

  it('take less where much waits in its queues', () => {
    const { memory, append } = storesWith(BYTES_MAX);
    memory.changeQueued('greedy', BYTES_MAX / 2);
    let taken = 0;
    while (append('greedy', `chat/${taken}`) !== 'full') taken += 1;
    expect(taken * LARGE.length).toBeGreaterThan(0.2 * BYTES_MAX);
    expect(taken * LARGE.length).toBeLessThan(0.3 * BYTES_MAX);
    memory.changeQueued('greedy', -BYTES_MAX / 2);
    expect(append('greedy', 'chat/0')).not.toBe('full');
  });

  it('have room again when their history is over, and are counted as nothing then', () => {
    const { memory, append } = storesWith(BYTES_MAX);
    let taken = 0;
    while (append('greedy', `chat/${taken}`) !== 'full') taken += 1;
    const later = NOW_MS + 10 * 60_000;
    // Each message that comes looks at two topics.
    for (let count = 0; count < taken; count += 1) append('honest', 'chat/0', later, Buffer.from('x'));
    expect(memory.bytes).toBeLessThan(0.1 * BYTES_MAX);
    expect(append('greedy', 'chat/0', later)).not.toBe('full');
  });

  it('are looked through without a look at those of another tenant, however many it has [SEC-TENANT-9]', () => {
    const { streamStore, append } = storesWith();
    for (let count = 0; count < 50; count += 1) append('other', `chat/${count}`, NOW_MS, Buffer.from('x'));
    append('own', 'chat/own', NOW_MS, Buffer.from('x'));
    const failing = () => {
      throw new Error('a topic of another tenant was looked at');
    };
    for (const topic of streamStore.all('other', STREAM))
      for (const name of ['tenant', 'topic', 'stream'] as const)
        Object.defineProperty(topic, name, { get: failing });
    expect(streamStore.topics('own', STREAM, 'chat/#', 10, NOW_MS)).toMatchObject([{ topic: 'chat/own' }]);
    expect(streamStore.figures('own', STREAM)).toMatchObject({ topics: 1, messages: 1 });
  });
});

describe('a page of last values', () => {
  it('looks at none before it, however many there are and were', () => {
    const { streamStore } = createMemoryStores();
    const stream = { ...STREAM, snapshot: true };
    const [keys, replaced, messages] = [10_000, 3_000, 32];
    let looks = 0;
    const append = (number: number) => {
      const message = messageOf({ topic: 'chat/0', payload: Buffer.from('x'), id: messageId(number) });
      const counting = {
        ...message,
        get expiresAtMs() {
          looks += 1;
          return undefined;
        },
      };
      const options = { key: `k${number % keys}`, nowMs: NOW_MS, isForced: false };
      expect(streamStore.append('t', stream, counting, options)).not.toBe('full');
    };
    for (let number = 1; number <= keys + replaced; number += 1) append(number);
    const tail = { topic: 'chat/0', ...(streamStore.tail('t', stream, 'chat/0', NOW_MS) as StreamTail) };
    const read: number[] = [];
    for (let at = 0; at < tail.last; at = read.at(-1) ?? tail.last) {
      looks = 0;
      const limit = { messages, bytes: Number.POSITIVE_INFINITY };
      const page = streamStore.lastValues('t', stream, tail, at, limit, NOW_MS) as StreamEntry[];
      read.push(...page.map(({ number }) => number));
      expect(looks).toBeLessThanOrEqual(messages + 1);
    }
    expect(read).toEqual(Array.from({ length: keys }, (_, index) => replaced + 1 + index));
  });
});
