import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../src/index.ts';

describe('a throttle of 10 a second with a burst of 5', () => {
  it('lets a burst through, then one each 100 ms', () => {
    const bucket = new TokenBucket(10, 5);
    const taken = Array.from({ length: 7 }, () => bucket.take(0));
    expect(taken).toEqual([true, true, true, true, true, false, false]);
    expect(bucket.take(99)).toBe(false);
    expect(bucket.take(100)).toBe(true);
    expect(bucket.take(100)).toBe(false);
  });

  it('is full again after half a second, and no fuller after an hour', () => {
    const bucket = new TokenBucket(10, 5);
    for (let index = 0; index < 5; index += 1) bucket.take(0);
    const taken = Array.from({ length: 6 }, () => bucket.take(3_600_000));
    expect(taken.filter(Boolean)).toHaveLength(5);
  });

  it('offered 20 a second for 10 s it takes the burst and 10 a second: 105 less the one that is due at the end', () => {
    const bucket = new TokenBucket(10, 5);
    let taken = 0;
    for (let ms = 0; ms < 10_000; ms += 50) if (bucket.take(ms)) taken += 1;
    // 5 at once, and a token each 100 ms up to 9,900 ms: 5 + 99.
    expect(taken).toBe(104);
    expect(bucket).toMatchObject({ offered: 200, refused: 96, peakPerSecond: 20 });
  });

  it('takes several at once or none of them', () => {
    const bucket = new TokenBucket(10, 5);
    expect(bucket.take(0, 6)).toBe(false);
    expect(bucket.take(0, 5)).toBe(true);
  });

  it('refuses no request when there is no limit', () => {
    const bucket = new TokenBucket(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    expect(Array.from({ length: 1_000 }, () => bucket.take(0)).every(Boolean)).toBe(true);
  });
});
