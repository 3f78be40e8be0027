import { type Histogram, Int32Histogram } from './histogram.ts';
import { LATENCY_MICROSECONDS_MAX } from './limits.ts';

/** Latencies in milliseconds. */
export interface LatencySummary {
  readonly count: number;
  readonly minMs: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** How many latencies were in a range. */
export interface LatencyBucket {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** Bars of the histogram for each doubling of the latency. */
const BUCKETS_PER_DOUBLING = 2;

const SIGNIFICANT_DIGITS = 3;

/** Percentiles of latencies, exact to three digits, in constant memory. */
export class LatencyRecorder {
  readonly #histogram: Histogram = new Int32Histogram(1, LATENCY_MICROSECONDS_MAX, SIGNIFICANT_DIGITS);
  readonly #buckets: number[] = [];

  record(latencyMs: number): void {
    const microseconds = Math.min(LATENCY_MICROSECONDS_MAX, Math.max(1, Math.round(latencyMs * 1_000)));
    this.#histogram.recordValue(microseconds);
    const bucket = Math.floor(Math.log2(microseconds) * BUCKETS_PER_DOUBLING);
    while (this.#buckets.length <= bucket) this.#buckets.push(0);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** Undefined without recorded latencies. */
  summary(): LatencySummary | undefined {
    const histogram = this.#histogram;
    if (histogram.totalCount === 0) return undefined;
    // A percentile is the upper edge of its bucket, which may be above the highest recorded latency.
    const at = (percentile: number): number =>
      Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1_000;
    return {
      count: histogram.totalCount,
      minMs: histogram.minNonZeroValue / 1_000,
      meanMs: histogram.mean / 1_000,
      p50Ms: at(50),
      p90Ms: at(90),
      p99Ms: at(99),
      p999Ms: at(99.9),
      maxMs: histogram.maxValue / 1_000,
    };
  }

  /** From the first bar with a latency to the last. */
  buckets(): LatencyBucket[] {
    const first = this.#buckets.findIndex((count) => count > 0);
    if (first === -1) return [];
    return this.#buckets.slice(first).map((count, index) => ({
      fromMs: edgeMs(first + index),
      toMs: edgeMs(first + index + 1),
      count,
    }));
  }

  reset(): void {
    this.#histogram.reset();
    this.#buckets.length = 0;
  }
}

function edgeMs(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_DOUBLING) / 1_000;
}
