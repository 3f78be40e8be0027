import { expect, test } from 'vitest';
import { LeakyCounts } from '../src/leaky-counts.ts';

test('a count falls by one in the time of its leak, and rises no further than its maximum', () => {
  const counts = new LeakyCounts({ leakMs: 1_000, countMax: 3, keysMax: 10 });
  for (let time = 0; time < 5; time++) counts.add('a', 0);
  expect(counts.count('a', 0)).toBe(3);
  expect(counts.count('a', 1_000)).toBe(2);
  expect(counts.last('a', 2_999)).toEqual({ count: 3, atMs: 0 });
  expect(counts.last('a', 3_000)).toBeUndefined();
});

test('a clock that goes back lowers no count', () => {
  const counts = new LeakyCounts({ leakMs: 1_000, countMax: 3, keysMax: 10 });
  counts.add('a', 5_000);
  expect(counts.count('a', 0)).toBe(1);
});

test('above the limit the key that was counted longest ago is dropped', () => {
  const counts = new LeakyCounts({ leakMs: 1_000, countMax: 3, keysMax: 2 });
  counts.add('a', 0);
  counts.add('b', 1);
  counts.add('a', 2);
  counts.add('c', 3);
  expect([...'abc'].map((key) => counts.count(key, 3) > 0)).toEqual([true, false, true]);
  expect(counts.size).toBe(2);
});

test('a count that has leaked away takes no memory once another key is counted', () => {
  const counts = new LeakyCounts({ leakMs: 1_000, countMax: 3, keysMax: 100 });
  for (let key = 0; key < 50; key++) counts.add(`key ${key}`, 0);
  counts.add('later', 1_000);
  expect(counts.size).toBe(1);
});
