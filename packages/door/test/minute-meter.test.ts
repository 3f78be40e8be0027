import { expect, test } from 'vitest';
import { MinuteMeter } from '../src/quotas/minute-meter.ts';

const MINUTE_MS = 60_000;
const STEP_MS = 5_000;

test('counts the last minute, and forgets at most five seconds too early', () => {
  const meter = new MinuteMeter();
  for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += 1_000) {
    meter.add(2, atMs);
    const total = meter.total(atMs);
    const seconds = Math.min(atMs / 1_000 + 1, 60);
    expect(total).toBeLessThanOrEqual(2 * seconds);
    expect(total).toBeGreaterThan(2 * (seconds - STEP_MS / 1_000));
  }
});

test('counts nothing that is a minute old, even if it has not been read for long', () => {
  for (const laterMs of [MINUTE_MS, MINUTE_MS + 1, 7 * MINUTE_MS, 86_400_000]) {
    const meter = new MinuteMeter();
    meter.add(5, 1_000);
    meter.add(5, 59_000);
    expect(meter.total(59_999)).toBe(10);
    expect(meter.total(59_999 + laterMs)).toBe(0);
  }
});

test('begins at any time of day, and bears a clock that goes back', () => {
  const nowMs = Date.parse('2026-11-27T12:00:00Z');
  const meter = new MinuteMeter();
  meter.add(1, nowMs);
  meter.add(1, nowMs - 2 * MINUTE_MS);
  expect(meter.total(nowMs - MINUTE_MS)).toBe(2);
  expect(meter.total(nowMs + STEP_MS)).toBe(2);
});
