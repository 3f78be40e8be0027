/** Buckets of each doubling: a value is off by less than one in this many. */
const BUCKETS_PER_DOUBLING = 64;
const SMALLEST_MS = 0.001;
const DOUBLINGS = 36;

/** Times, counted in buckets whose width grows. */
export class Histogram {
  readonly #buckets = new Uint32Array(BUCKETS_PER_DOUBLING * DOUBLINGS);
  #count = 0;
  #sum = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return this.#count === 0 ? Number.NaN : this.#sum / this.#count;
  }

  get max(): number {
    return this.#max;
  }

  add(ms: number): void {
    const doublings = Math.log2(Math.max(ms, SMALLEST_MS) / SMALLEST_MS);
    const bucket = Math.min(this.#buckets.length - 1, Math.floor(doublings * BUCKETS_PER_DOUBLING));
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#sum += ms;
    this.#max = Math.max(this.#max, ms);
  }

  /** The middle of the bucket below which this share lies; NaN without values. */
  quantile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    if (wanted >= this.#count) return this.#max;
    let seen = 0;
    for (let bucket = 0; bucket < this.#buckets.length; bucket += 1) {
      seen += this.#buckets[bucket] ?? 0;
      if (seen >= wanted) {
        const middle = SMALLEST_MS * 2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING);
        return Math.min(middle, this.#max);
      }
    }
    return this.#max;
  }
}
