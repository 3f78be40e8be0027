import type { SampleRing } from './sample-ring.ts';

/** The statistics of a series in a window of time. */
export interface SeriesStatistics {
  readonly count: number;
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

/** Undefined where the window holds no sample. */
export function statisticsOf(ring: SampleRing, fromMs: number, toMs: number): SeriesStatistics | undefined {
  const begin = ring.indexOf(fromMs);
  let index = begin;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (; index < ring.size && ring.timeAt(index) <= toMs; index += 1) {
    const value = ring.valueAt(index);
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  const count = index - begin;
  if (count === 0) return undefined;
  return { count, last: ring.valueAt(index - 1), min, max, mean: sum / count };
}
