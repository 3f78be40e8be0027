import { expect, test } from 'vitest';
import { BoundedFrameLog, type FrameFields } from '../../src/engine/log/frame-log.ts';
import type { MessageFields } from '../../src/engine/log/message.ts';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import { BoundedPacketLog } from '../../src/engine/log/packet-log.ts';
import { messageFields } from '../features/message.ts';

/** The payload is behind four bytes of its packet. */
function message(topic: string, payload = 'x'): MessageFields {
  return messageFields(topic, `head${payload}`, { payloadOffset: 4 });
}

/** Frames that are drawn when the test says so. */
function frames(): { schedule: (callback: () => void) => void; draw: () => void } {
  const waiting: (() => void)[] = [];
  return {
    schedule: (callback) => void waiting.push(callback),
    draw: () => {
      for (const callback of waiting.splice(0)) callback();
    },
  };
}

const FRAME: FrameFields = {
  number: 1,
  direction: 'in',
  kind: 'push',
  atMs: 0,
  characters: 4,
  billed: 1,
  billedAlone: 1,
  taken: undefined,
  parts: 0,
  more: false,
  packets: [],
  byteLength: 2,
};

test('the newest messages stay, and keep their sequence', () => {
  const log = new BoundedMessageLog({ messagesMax: 3, bytesMax: 10_000 });
  log.append(['a', 'b', 'c', 'd', 'e'].map((topic) => message(topic)));
  expect(log.size).toBe(3);
  expect(log.evicted).toBe(2);
  expect([log.firstSequence, log.endSequence]).toEqual([2, 5]);
  expect(log.at(1)).toBeUndefined();
  expect(log.at(4)?.topic).toBe('e');
});

test('bytes are a limit too, and one message always stays', () => {
  const log = new BoundedMessageLog({ messagesMax: 100, bytesMax: 2_000 });
  for (let index = 0; index < 50; index += 1) log.append([message(`t${index}`, 'y'.repeat(200))]);
  expect(log.bytes).toBeLessThanOrEqual(2_000);
  expect(log.size).toBeGreaterThan(1);
  log.append([message('large', 'z'.repeat(5_000))]);
  expect(log.size).toBe(1);
});

test('a message that was let go is still readable by its holder', () => {
  const log = new BoundedMessageLog({ messagesMax: 1, bytesMax: 10_000 });
  log.append([message('a', 'held')]);
  const held = log.at(0);
  log.append([message('b')]);
  expect(log.at(0)).toBeUndefined();
  expect(held?.text()).toBe('held');
  expect(held?.text(2)).toBe('he');
});

test('listeners hear of each batch at once, and of any number of batches once per frame', () => {
  const { schedule, draw } = frames();
  const log = new BoundedMessageLog({ messagesMax: 10, bytesMax: 10_000 }, schedule);
  const batches: number[] = [];
  let drawn = 0;
  log.onAppend((messages) => batches.push(messages.length));
  const stop = log.onFrame(() => {
    drawn += 1;
  });
  log.append([message('a'), message('b')]);
  log.append([message('c')]);
  expect(batches).toEqual([2, 1]);
  expect(drawn).toBe(0);
  draw();
  expect(drawn).toBe(1);
  stop();
  log.append([message('d')]);
  draw();
  expect(drawn).toBe(1);
});

test('a cleared log begins anew, and its sequences go on', () => {
  const log = new BoundedMessageLog({ messagesMax: 2, bytesMax: 10_000 });
  log.append([message('a'), message('b'), message('c')]);
  let isCleared = false;
  log.onClear(() => {
    isCleared = true;
  });
  log.clear();
  expect(isCleared).toBe(true);
  expect([log.size, log.bytes, log.evicted]).toEqual([0, 0, 0]);
  log.append([message('d')]);
  expect(log.at(3)?.topic).toBe('d');
});

test('the timeline is bounded by packets and by bytes', () => {
  const log = new BoundedPacketLog({ countMax: 4, bytesMax: 100 });
  let id = 0;
  const packet = (length: number) => ({
    id: id++,
    direction: 'in' as const,
    atMs: 0,
    bytes: new Uint8Array(length).fill(0x30),
  });
  log.append(Array.from({ length: 6 }, () => packet(10)));
  expect([log.size, log.firstSequence]).toEqual([4, 2]);
  log.append([packet(80)]);
  expect(log.size).toBe(3);
  expect(log.at(log.endSequence - 1)).toMatchObject({ type: 3, length: 80 });
});

test('a packet is told its frame while it is kept, though numbers were left out before it', () => {
  const log = new BoundedPacketLog({ countMax: 3, bytesMax: 100 });
  const bytes = new Uint8Array([0xc0, 0]);
  log.append([2, 5, 9, 12].map((id) => ({ id, direction: 'out' as const, atMs: 0, bytes })));
  const before = log.changes;
  log.link(9, 41);
  log.link(12, 'kept');
  log.link(2, 40);
  log.link(7, 40);
  expect([1, 2, 3].map((sequence) => log.at(sequence)?.frame)).toEqual([undefined, 41, 'kept']);
  expect(log.changes).toBe(before + 2);
});

test('the log of frames is bounded by frames and by bytes, and finds a frame by its number', () => {
  const log = new BoundedFrameLog({ countMax: 3, bytesMax: 100 });
  const frame = (number: number, byteLength: number) => ({ ...FRAME, number, byteLength });
  log.append([frame(1, 10), frame(2, 10), frame(4, 10), frame(5, 10)]);
  expect(log.newest().map(({ number }) => number)).toEqual([5, 4, 2]);
  expect([log.withNumber(1), log.withNumber(3)]).toEqual([undefined, undefined]);
  expect(log.withNumber(4)).toMatchObject({ number: 4 });
  log.append([frame(6, 90)]);
  expect(log.newest().map(({ number }) => number)).toEqual([6, 5]);
  log.clear();
  expect(log.size).toBe(0);
});
