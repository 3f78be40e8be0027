import { describe, expect, it } from 'vitest';
import { LambdaPool, scaleUpSeconds } from '../src/index.ts';

describe('execution environments', () => {
  it('an overlapping invocation starts cold, a later one finds a warm environment', () => {
    const pool = new LambdaPool({ concurrency: 10, scalingPerTenSeconds: 10 });
    expect([pool.enter(0), pool.enter(0)]).toEqual(['cold', 'cold']);
    pool.leave();
    expect(pool.enter(1)).toBe('warm');
    expect(pool).toMatchObject({ running: 2, runningMax: 2, environments: 2 });
  });

  it('no more run at a time than the quota has', () => {
    const pool = new LambdaPool({ concurrency: 2, scalingPerTenSeconds: 10 });
    expect([pool.enter(0), pool.enter(0), pool.enter(0)]).toEqual(['cold', 'cold', 'throttled']);
  });

  it('ten requests a second for each of the quota, however short they are', () => {
    const pool = new LambdaPool({ concurrency: 2, scalingPerTenSeconds: 10 });
    const starts = Array.from({ length: 25 }, () => {
      const start = pool.enter(0);
      if (start !== 'throttled') pool.leave();
      return start;
    });
    expect(starts.filter((start) => start !== 'throttled')).toHaveLength(20);
  });

  it('new ones come at a thousand at once and a thousand more after ten seconds', () => {
    const pool = new LambdaPool({ concurrency: 100_000, scalingPerTenSeconds: 1_000 });
    const started = (nowMs: number) =>
      Array.from({ length: 3_000 }, () => pool.enter(nowMs)).filter((start) => start === 'cold').length;
    expect(started(0)).toBe(1_000);
    expect(started(10_000)).toBe(1_000);
    expect(scaleUpSeconds(5_000, 1_000)).toBe(40);
    expect(scaleUpSeconds(500, 1_000)).toBe(0);
  });
});
