/** The distribution of a duration: half of them are at most `p50Ms`, all but one in a hundred at most `p99Ms`. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A quantile of the standard normal distribution: 99 % lie below. */
const Z_99 = 2.326_347_874;

/** Numbers that look random and are the same for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 up to 1. The generator is Tommy Ettinger's mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** The time until the next of independent events. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean;
  }

  /** Log-normal: most are near the median, a few are far above it. */
  latency({ p50Ms, p99Ms }: Latency): number {
    if (p99Ms <= p50Ms) return p50Ms;
    const sigma = Math.log(p99Ms / p50Ms) / Z_99;
    return p50Ms * Math.exp(sigma * this.#normal());
  }

  /** Box and Muller. */
  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
