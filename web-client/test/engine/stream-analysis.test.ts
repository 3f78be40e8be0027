import { expect, test } from 'vitest';
import { LATE, StreamAnalysis } from '../../src/engine/host/stream-analysis.ts';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import { messageFields } from '../features/message.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function look(payload: unknown, analysis = new StreamAnalysis(), topic = 't', isRetained = false) {
  const bytes = new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
  return analysis.look(topic, bytes, undefined, NOW_MS, isRetained);
}

test.each([
  ['milliseconds', NOW_MS - 250],
  ['seconds', (NOW_MS - 250) / 1_000],
  ['microseconds', (NOW_MS - 250) * 1_000],
  ['nanoseconds', (NOW_MS - 250) * 1_000_000],
  ['ISO 8601', new Date(NOW_MS - 250).toISOString()],
  ['a number in a string', String(NOW_MS - 250)],
])('a timestamp in %s gives the latency', (_name, timestamp) => {
  expect(look({ timestamp }).latencyMs).toBeCloseTo(250, 0);
});

test.each([
  [{ ts: 5 }],
  [{ time: 'noon' }],
  [{ other: NOW_MS }],
  ['{"ts":'],
  ['[1]'],
  [{ ts: NOW_MS - 3_600_000 }],
])('other values give no latency: %j', (payload) => {
  expect(look(payload).latencyMs).toBeUndefined();
});

test('a retained message has no latency and is no gap', () => {
  const analysis = new StreamAnalysis();
  look({ seq: 1 }, analysis);
  expect(look({ ts: NOW_MS, seq: 9 }, analysis, 't', true)).toEqual({
    latencyMs: undefined,
    missingBefore: 0,
  });
});

test('gaps are counted for each topic, where its counter has shown steps of one', () => {
  const analysis = new StreamAnalysis();
  const missing = (seq: number, topic: string) => look({ seq }, analysis, topic).missingBefore;
  const all = (topic: string, ...numbers: number[]) => numbers.map((seq) => missing(seq, topic));
  expect(all('a', 1, 2, 3, 4)).toEqual([0, 0, 0, 0]);
  expect(all('b', 5, 6)).toEqual([0, 0]);
  expect(all('a', 7)).toEqual([2]);
  expect(all('b', 9)).toEqual([0]);
  // The publisher has restarted.
  expect(all('a', 1, 2)).toEqual([0, 0]);
});

test('a counter over many topics shows no gaps in any of them', () => {
  const analysis = new StreamAnalysis();
  const missing = Array.from({ length: 1_000 }, (_, seq) => look({ seq }, analysis, `t/${(seq * 7) % 10}`));
  expect(missing.filter(({ missingBefore }) => missingBefore !== 0)).toEqual([]);
  const pairs = Array.from({ length: 1_000 }, (_, seq) => look({ seq }, analysis, `p/${(seq >> 1) % 10}`));
  expect(pairs.filter(({ missingBefore }) => missingBefore !== 0)).toEqual([]);
});

test('a message that comes late is known as one, and takes its mark back', () => {
  const analysis = new StreamAnalysis();
  const fields = [1, 2, 3, 4, 8, 6, 9, 5, 6].map((seq) => {
    const { missingBefore } = look({ seq }, analysis);
    return messageFields('t', `{"seq":${seq}}`, { missingBefore });
  });
  expect(fields.map(({ missingBefore }) => missingBefore)).toEqual([0, 0, 0, 0, 3, LATE, 0, LATE, LATE]);
  const log = new BoundedMessageLog();
  log.append(fields.slice(0, 5));
  expect(log.at(4)?.missingBefore).toBe(3);
  log.append(fields.slice(5, 8));
  expect([4, 5, 6, 7].map((sequence) => log.at(sequence)?.missingBefore)).toEqual([1, 0, 0, 0]);
});

test('user properties carry them too', () => {
  const analysis = new StreamAnalysis();
  const properties = { userProperties: [['timestamp', String(NOW_MS - 40)]] as const };
  expect(analysis.look('t', new Uint8Array([1]), properties, NOW_MS, false).latencyMs).toBe(40);
});
