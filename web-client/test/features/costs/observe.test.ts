import { estimate } from '@apus/cost';
import { expect, test } from 'vitest';
import { BoundedMessageLog } from '../../../src/engine/log/message-log.ts';
import { observe, workloadOf } from '../../../src/features/costs/observe.ts';
import { messageFields } from '../message.ts';

const MINUTE_MS = 60_000;

function logOf(...fields: ReturnType<typeof messageFields>[]) {
  const log = new BoundedMessageLog({ messagesMax: 100, bytesMax: 100_000 });
  log.append(fields);
  return log;
}

test('no rate is observed without messages', () => {
  expect(observe(logOf(), 0)).toBeUndefined();
});

test('rates are those since the oldest message, sizes are averages, and the most frequent QoS counts', () => {
  const log = logOf(
    messageFields('a/b', 'x'.repeat(100), { direction: 'published', atMs: 0, qos: 1 }),
    messageFields('a/b', 'x'.repeat(100), { atMs: 1, qos: 1 }),
    messageFields('a/bcd', 'x'.repeat(400), { atMs: MINUTE_MS, qos: 0 }),
  );
  expect(observe(log, 6 * MINUTE_MS)).toEqual({
    spanMs: 6 * MINUTE_MS,
    messages: 3,
    publishedPerHour: 10,
    receivedPerHour: 20,
    payloadBytes: 200,
    topicBytes: 4,
    qos: 1,
  });
});

test('a single message just now is no rate of thousands', () => {
  expect(observe(logOf(messageFields('a', '', { atMs: 5 })), 5)?.receivedPerHour).toBe(3_600);
});

const OBSERVED = { spanMs: 1, messages: 1, payloadBytes: 50, topicBytes: 5, qos: 2 } as const;

test('among clients that are all alike, what one receives for what it publishes is the fan-out', () => {
  const workload = workloadOf({ ...OBSERVED, publishedPerHour: 10, receivedPerHour: 25 });
  expect(workload).toEqual({ publishesPerHour: 10, fanOut: 2.5, bytes: 50, topicBytes: 5, qos: 2 });
  expect(estimate({ clients: 10, ...workload }).traffic.deliveries).toBeCloseTo(10 * 25 * 24 * 30);
});

test('for one that only receives, another client publishes', () => {
  expect(workloadOf({ ...OBSERVED, publishedPerHour: 0, receivedPerHour: 25 })).toMatchObject({
    publishesPerHour: 25,
    fanOut: 1,
  });
});
