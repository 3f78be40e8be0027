import type { SampleRing } from './sample-ring.ts';

/** The figures of a series in a selected range, besides minimum, mean and maximum. */
export interface RangeStatistics {
  readonly median: number;
  /** The 95th percentile. */
  readonly percentile95: number;
  /** Standard deviation of the samples. */
  readonly deviation: number;
  /** The last sample minus the first one. */
  readonly change: number;
  /** Samples a second of the range. */
  readonly perSecond: number;
}

/** Undefined if the range holds no sample. */
export function rangeStatisticsOf(
  ring: SampleRing,
  fromMs: number,
  toMs: number,
): RangeStatistics | undefined {
  const values: number[] = [];
  for (let index = ring.indexOf(fromMs); index < ring.size && ring.timeAt(index) <= toMs; index += 1) {
    values.push(ring.valueAt(index));
  }
  const [first] = values;
  const last = values.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const ascending = Float64Array.from(values).sort();
  return {
    median: (rank(ascending, 0.5) + rank(ascending, 0.5, 1)) / 2,
    percentile95: rank(ascending, 0.95),
    deviation: Math.sqrt(squares / values.length),
    change: last - first,
    perSecond: toMs > fromMs ? (values.length * 1_000) / (toMs - fromMs) : 0,
  };
}

/** By nearest rank; `offset` 1 gives the upper of the two that a half lies between. */
function rank(ascending: Float64Array, part: number, offset = 0): number {
  const place = part * ascending.length;
  const isBetween = Number.isInteger(place);
  const index = Math.ceil(place) - 1 + (isBetween ? offset : 0);
  return ascending[Math.max(0, Math.min(ascending.length - 1, index))] ?? Number.NaN;
}
