import { expect, test } from 'vitest';
import type { NewMessage } from '../../src/engine/host/batch-builder.ts';
import { Batcher } from '../../src/engine/host/batcher.ts';
import { BATCH_MESSAGES_MAX } from '../../src/engine/limits.ts';
import { readMessages, readPackets } from '../../src/engine/page/read-batch.ts';
import type { Batch } from '../../src/engine/protocol.ts';

const MESSAGE: NewMessage = {
  isPublished: false,
  atMs: 1.5,
  topic: 'a',
  qos: 2,
  retain: true,
  dup: true,
  packetId: 7,
  properties: { contentType: 'x' },
  subscriptionIds: ['s'],
  payloadOffset: 1,
  latencyMs: undefined,
  missingBefore: 3,
};

/** A batcher whose timers run when the test says so. */
function setUp(): { batcher: Batcher; batches: Batch[]; tick: () => void } {
  const timers: (() => void)[] = [];
  const batches: Batch[] = [];
  const batcher = new Batcher(
    (batch) => batches.push(batch),
    (callback) => {
      timers.push(callback);
      return () => {};
    },
  );
  const tick = (): void => {
    for (const timer of timers.splice(0)) timer();
  };
  return { batcher, batches, tick };
}

test('a batch returns its messages', () => {
  const { batcher, batches, tick } = setUp();
  const bytes = new Uint8Array([0x30, 1, 2]);
  batcher.packet(new Uint8Array([0xc0, 0]), 0.5, true);
  const place = batcher.packet(bytes, 1.5, false);
  batcher.message(MESSAGE, bytes, place);
  tick();
  const [batch] = batches;
  if (batch === undefined) throw new Error('no batch was sent');
  expect(batch.bytes.byteLength).toBe(5);
  expect(readPackets(batch).map(({ direction, atMs, bytes: [first] }) => [direction, atMs, first])).toEqual([
    ['out', 0.5, 0xc0],
    ['in', 1.5, 0x30],
  ]);
  expect(readMessages('c', batch)).toEqual([
    expect.objectContaining({
      connectionId: 'c',
      direction: 'received',
      atMs: 1.5,
      topic: 'a',
      qos: 2,
      retain: true,
      dup: true,
      packetId: 7,
      properties: { contentType: 'x' },
      subscriptionIds: ['s'],
      packetOffset: 2,
      packetLength: 3,
      payloadOffset: 1,
      latencyMs: undefined,
      missingBefore: 3,
    }),
  ]);
});

test('a message whose packet has left brings its bytes again', () => {
  const { batcher, batches, tick } = setUp();
  const bytes = new Uint8Array([0x34, 9]);
  const place = batcher.packet(bytes, 0, false);
  tick();
  batcher.taken();
  batcher.message(MESSAGE, bytes, place);
  tick();
  const last = batches[1];
  if (last === undefined) throw new Error('no second batch was sent');
  expect([...new Uint8Array(last.bytes)]).toEqual([0x34, 9]);
});

test('one batch at a time: the next waits until the page has taken the last', () => {
  const { batcher, batches, tick } = setUp();
  batcher.packet(new Uint8Array([1]), 0, false);
  tick();
  batcher.packet(new Uint8Array([2]), 0, false);
  tick();
  expect(batches.length).toBe(1);
  batcher.taken();
  tick();
  expect(batches.length).toBe(2);
});

test('a page that takes nothing misses messages, which are counted, and the worker does not grow', () => {
  const { batcher, batches, tick } = setUp();
  batcher.packet(new Uint8Array([1]), 0, false);
  tick();
  const bytes = new Uint8Array([0x30]);
  for (let index = 0; index < BATCH_MESSAGES_MAX + 10; index += 1) batcher.message(MESSAGE, bytes, undefined);
  expect(batcher.skipped).toBe(BATCH_MESSAGES_MAX);
  batcher.taken();
  tick();
  expect(batches[1]?.subscriptionIds.length).toBe(10);
});
