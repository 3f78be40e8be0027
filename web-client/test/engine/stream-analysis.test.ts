import { expect, test } from 'vitest';
import { StreamAnalysis } from '../../src/engine/host/stream-analysis.ts';

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

test('gaps are counted for each topic', () => {
  const analysis = new StreamAnalysis();
  const missing = (seq: number, topic: string) => look({ seq }, analysis, topic).missingBefore;
  expect([missing(1, 'a'), missing(5, 'b'), missing(2, 'a'), missing(5, 'a'), missing(6, 'b')]).toEqual([
    0, 0, 0, 2, 0,
  ]);
  expect(missing(1, 'a')).toBe(0);
  expect(missing(2, 'a')).toBe(0);
});

test('user properties carry them too', () => {
  const analysis = new StreamAnalysis();
  const properties = { userProperties: [['timestamp', String(NOW_MS - 40)]] as const };
  expect(analysis.look('t', new Uint8Array([1]), properties, NOW_MS, false).latencyMs).toBe(40);
});
