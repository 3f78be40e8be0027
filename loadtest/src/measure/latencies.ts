import * as hdr from 'hdr-histogram-js';

/** The largest value of a histogram: an hour, in microseconds; a longer time counts as an hour. */
const HIGHEST_MICROS = 3_600_000_000;

/** Within a thousandth of the value. */
const SIGNIFICANT_DIGITS = 3;

const BITS = 32;

/** Percentiles in milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Latencies, kept as an HDR histogram of microseconds. */
export class Latencies {
  readonly #histogram: hdr.Histogram;

  constructor(encoded?: string) {
    this.#histogram =
      encoded === undefined
        ? hdr.build({
            bitBucketSize: BITS,
            highestTrackableValue: HIGHEST_MICROS,
            lowestDiscernibleValue: 1,
            numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
            useWebAssembly: false,
          })
        : hdr.decodeFromCompressedBase64(encoded, BITS, false);
  }

  record(micros: number): void {
    this.#histogram.recordValue(Math.min(HIGHEST_MICROS, Math.max(0, Math.round(micros))));
  }

  add(other: Latencies): void {
    this.#histogram.add(other.#histogram);
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  /** For a ledger. */
  encode(): string {
    return hdr.encodeIntoCompressedBase64(this.#histogram);
  }

  percentiles(): Percentiles {
    const at = (percentile: number) => this.#histogram.getValueAtPercentile(percentile) / 1_000;
    const isEmpty = this.count === 0;
    return {
      count: this.count,
      mean: isEmpty ? 0 : this.#histogram.mean / 1_000,
      p50: at(50),
      p95: at(95),
      p99: at(99),
      p999: at(99.9),
      max: isEmpty ? 0 : this.#histogram.maxValue / 1_000,
    };
  }
}
