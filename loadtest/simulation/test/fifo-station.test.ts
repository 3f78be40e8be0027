import { describe, expect, it } from 'vitest';
import { EventLoop, FifoStation, Histogram, Random, serveFor } from '../src/index.ts';

/** Customers that arrive at these times, each served equally long; returns how long each waited. */
function waits(arrivals: readonly number[], serviceMs: number, servers = 1): number[] {
  const loop = new EventLoop();
  const station = new FifoStation(servers);
  const waited: number[] = [];
  for (const [index, atMs] of arrivals.entries()) {
    loop.after(atMs, () =>
      station.enter(
        serveFor(loop, serviceMs, () => {
          waited[index] = loop.nowMs - atMs - serviceMs;
        }),
      ),
    );
  }
  loop.run();
  return waited;
}

/** The station may serve arrivals of the same instant in any order. */
const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);

describe('a line before one server', () => {
  it('three that come together, 10 ms each: they wait 0, 10 and 20 ms', () => {
    expect(sorted(waits([0, 0, 0], 10))).toEqual([0, 10, 20]);
  });

  it('first come, first served', () => {
    expect(waits([0, 1, 2], 10)).toEqual([0, 9, 18]);
  });

  it('a task that comes when it is free does not wait', () => {
    expect(waits([0, 10, 25], 10)).toEqual([0, 0, 0]);
  });

  it('two servers halve the line', () => {
    expect(sorted(waits([0, 0, 0, 0], 10, 2))).toEqual([0, 0, 10, 10]);
  });

  it.each([0.5, 0.8, 0.9])('M/D/1 at a load of %f: the mean wait is ρ D / 2 (1 − ρ)', (load) => {
    const serviceMs = 10;
    const random = new Random(7);
    let atMs = 0;
    const arrivals = Array.from({ length: 150_000 }, () => {
      atMs += random.exponential(serviceMs / load);
      return atMs;
    });
    const waited = waits(arrivals, serviceMs);
    const mean = waited.reduce((sum, each) => sum + each, 0) / waited.length;
    const closedForm = (load * serviceMs) / (2 * (1 - load));
    expect(Math.abs(mean / closedForm - 1)).toBeLessThan(0.05);
  });
});

describe('the loop', () => {
  it('runs due events in their order, and none after the end', () => {
    const loop = new EventLoop();
    const seen: number[] = [];
    for (const ms of [30, 10, 20, 50]) loop.after(ms, () => seen.push(loop.nowMs));
    loop.run(40);
    expect(seen).toEqual([10, 20, 30]);
    loop.run();
    expect(seen).toEqual([10, 20, 30, 50]);
    expect(loop.events).toBe(4);
  });
});

describe('a histogram', () => {
  it('of 1 to 1,000 ms gives quantiles within one percent', () => {
    const histogram = new Histogram();
    for (let ms = 1; ms <= 1_000; ms += 1) histogram.add(ms);
    for (const [share, ms] of [
      [0.5, 500],
      [0.95, 950],
      [0.99, 990],
    ] as const) {
      expect(Math.abs(histogram.quantile(share) / ms - 1)).toBeLessThan(0.011);
    }
    expect(histogram.quantile(1)).toBe(1_000);
    expect(histogram.mean).toBe(500.5);
  });

  it('without values gives none', () => {
    expect(new Histogram().quantile(0.5)).toBeNaN();
  });
});

describe('latencies', () => {
  it('have the requested median and 99th percentile', () => {
    const random = new Random(3);
    const histogram = new Histogram();
    for (let index = 0; index < 200_000; index += 1) histogram.add(random.latency({ p50Ms: 28, p99Ms: 645 }));
    expect(Math.abs(histogram.quantile(0.5) / 28 - 1)).toBeLessThan(0.03);
    expect(Math.abs(histogram.quantile(0.99) / 645 - 1)).toBeLessThan(0.05);
  });

  it('are the same for the same seed', () => {
    const of = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 5 }, () => random.next());
    };
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });
});
