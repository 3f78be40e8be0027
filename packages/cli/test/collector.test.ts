import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Collector, tuneCollector, YOUNG_BYTES_MAX } from '../src/collector.ts';

class FakeCollector implements Collector {
  bytes = YOUNG_BYTES_MAX / 8;
  readonly flags: string[] = [];

  youngBytes(): number {
    return this.bytes;
  }

  setFlag(flag: string): void {
    this.flags.push(flag);
  }
}

const SECOND_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('the young generation grows to its limit, and again after V8 has shrunk it', () => {
  const collector = new FakeCollector();
  const end = tuneCollector('', collector);
  vi.advanceTimersByTime(SECOND_MS);
  expect(collector.flags).toEqual(['--no-parallel-scavenge']);
  collector.bytes = YOUNG_BYTES_MAX;
  vi.advanceTimersByTime(SECOND_MS);
  expect(collector.flags.slice(1)).toEqual(['--semi-space-growth-factor=1']);
  collector.bytes = YOUNG_BYTES_MAX / 8;
  vi.advanceTimersByTime(SECOND_MS);
  expect(collector.flags.slice(2)).toEqual(['--semi-space-growth-factor=2']);
  end();
});

test('flags that the user has given to Node.js take precedence', () => {
  const collector = new FakeCollector();
  tuneCollector('--max-semi-space-size=64 --parallel_scavenge', collector);
  collector.bytes = YOUNG_BYTES_MAX;
  vi.advanceTimersByTime(SECOND_MS);
  expect(collector.flags).toEqual([]);
});
