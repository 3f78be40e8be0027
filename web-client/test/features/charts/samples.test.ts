import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align } from '../../../src/features/charts/align.ts';
import { downsample, interrupted } from '../../../src/features/charts/downsample.ts';
import { SampleRing } from '../../../src/features/charts/sample-ring.ts';
import { statisticsOf } from '../../../src/features/charts/statistics.ts';

function ringOf(samples: readonly (readonly [number, number])[], capacity = 100_000): SampleRing {
  const ring = new SampleRing(capacity);
  for (const [time, value] of samples) ring.push(time, value);
  return ring;
}

const contents = (ring: SampleRing): [number, number][] =>
  Array.from({ length: ring.size }, (_, index) => [ring.timeAt(index), ring.valueAt(index)]);

const ascending = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: -1_000, max: 1_000 })), {
    maxLength: 500,
  })
  .map((samples) => samples.sort(([a], [b]) => a - b));

describe('the ring of samples', () => {
  it('holds the last of them, whatever its capacity and however it grew', () => {
    fc.assert(
      fc.property(ascending, fc.integer({ min: 1, max: 600 }), (samples, capacity) => {
        const ring = ringOf(samples, capacity);
        expect(contents(ring)).toEqual(samples.slice(-capacity));
        expect(ring.total).toBe(samples.length);
      }),
    );
    const many = Array.from({ length: 5_000 }, (_, index): [number, number] => [index, -index]);
    expect(contents(ringOf(many, 3_000))).toEqual(many.slice(-3_000));
    expect(contents(ringOf(many, 1_024))).toEqual(many.slice(-1_024));
  });

  it('finds the first sample of a time', () => {
    fc.assert(
      fc.property(ascending, fc.integer({ min: -1, max: 100_001 }), (samples, time) => {
        const found = samples.findIndex(([at]) => at >= time);
        expect(ringOf(samples).indexOf(time)).toBe(found === -1 ? samples.length : found);
      }),
    );
  });

  it('does not go back when a clock does', () => {
    expect(
      contents(
        ringOf([
          [10, 1],
          [5, 2],
          [11, 3],
        ]),
      ),
    ).toEqual([
      [10, 1],
      [10, 2],
      [11, 3],
    ]);
  });

  it('is empty after it was cleared', () => {
    const ring = ringOf([[1, 1]], 2);
    ring.clear();
    expect([ring.size, ring.total]).toEqual([0, 0]);
    ring.push(1, 5);
    expect(contents(ring)).toEqual([[1, 5]]);
  });
});

describe('downsampling', () => {
  it('gives at most four points a column, with the first, last, lowest and highest of each', () => {
    fc.assert(
      fc.property(ascending, fc.integer({ min: 1, max: 40 }), (samples, columns) => {
        const line = downsample(ringOf(samples), 0, 100_000, columns);
        expect(line.times.length).toBeLessThanOrEqual(
          Math.max(4 * (columns + 1), Math.min(samples.length, columns * 4)),
        );
        const width = 100_000 / columns;
        const chosen = new Set(line.times.map((time, index) => `${time} ${line.values[index]}`));
        for (let column = 0; column < columns; column += 1) {
          const inside = samples
            .filter(([time]) => Math.floor(time / width) === column)
            .map(([, value]) => value);
          const shown = line.values
            .filter((_, index) => Math.floor((line.times[index] ?? 0) / width) === column)
            .map(Number);
          if (inside.length === 0) continue;
          expect(Math.min(...shown)).toBe(Math.min(...inside));
          expect(Math.max(...shown)).toBe(Math.max(...inside));
        }
        expect([...line.times].sort((a, b) => a - b)).toEqual(line.times);
        expect(
          [...chosen].every((point) => samples.some(([time, value]) => `${time} ${value}` === point)),
        ).toBe(true);
      }),
    );
  });

  it('begins and ends one sample outside of the window, so that the line reaches its edges', () => {
    const ring = ringOf([
      [0, 1],
      [10, 2],
      [20, 3],
      [30, 4],
      [40, 5],
    ]);
    expect(downsample(ring, 15, 25, 100).times).toEqual([10, 20, 30]);
  });
});

describe('lines over one column of times', () => {
  it('keep all of their points', () => {
    const columns = align([
      { times: [1_000, 3_000, 3_000], values: [1, 2, 3] },
      { times: [2_000, 3_000], values: [4, 5] },
    ]);
    expect(columns).toEqual([
      [1, 2, 3, 3],
      [1, undefined, 2, 3],
      [undefined, 4, 5, undefined],
    ]);
  });

  it('are no rows where there are no lines', () => {
    expect(align([])).toEqual([[]]);
  });
});

describe('the statistics of a window', () => {
  it('agree with the samples in it', () => {
    fc.assert(
      fc.property(ascending, fc.nat(100_000), fc.nat(100_000), (samples, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const inside = samples.filter(([time]) => time >= from && time <= to).map(([, value]) => value);
        const statistics = statisticsOf(ringOf(samples), from, to);
        if (inside.length === 0) {
          expect(statistics).toBeUndefined();
          return;
        }
        expect(statistics).toMatchObject({
          count: inside.length,
          last: inside.at(-1),
          min: Math.min(...inside),
          max: Math.max(...inside),
        });
        expect(statistics?.mean).toBeCloseTo(inside.reduce((sum, value) => sum + value, 0) / inside.length);
      }),
    );
  });
});

describe('a line where there was no connection', () => {
  const line = { times: [0, 1_000, 9_000], values: [1, 2, 3] };

  it('is interrupted between the points around it', () => {
    expect(align([interrupted(line, [5_000])])).toEqual([
      [0, 1, 5, 9],
      [1, 2, null, 3],
    ]);
  });

  it('goes on where the interruption is before its first point, or behind its last', () => {
    expect(interrupted(line, [-1, 10_000])).toEqual(line);
  });

  it("does not interrupt another connection's", () => {
    const other = { times: [4_000, 6_000], values: [7, 8] };
    expect(align([interrupted(line, [5_000]), other])).toEqual([
      [0, 1, 4, 5, 6, 9],
      [1, 2, undefined, null, undefined, 3],
      [undefined, undefined, 7, undefined, 8, undefined],
    ]);
  });
});
