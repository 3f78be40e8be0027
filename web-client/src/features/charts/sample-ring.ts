/** The last samples of a series, in two preallocated columns. Times ascend. */
export class SampleRing {
  readonly capacity: number;
  #times = new Float64Array(INITIAL);
  #values = new Float64Array(INITIAL);
  #first = 0;
  #size = 0;
  #total = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** How many were ever pushed. */
  get total(): number {
    return this.#total;
  }

  /** A time before the last one is replaced by the last one: clocks are set back, and lines must not go backwards. */
  push(timeMs: number, value: number): void {
    if (this.#size === this.#times.length && this.#size < this.capacity) this.#grow();
    const time = this.#size === 0 ? timeMs : Math.max(timeMs, this.timeAt(this.#size - 1));
    if (this.#size === this.capacity) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#size -= 1;
    }
    const slot = (this.#first + this.#size) % this.#times.length;
    this.#times[slot] = time;
    this.#values[slot] = value;
    this.#size += 1;
    this.#total += 1;
  }

  /** @param index 0 is the oldest */
  timeAt(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] ?? Number.NaN;
  }

  valueAt(index: number): number {
    return this.#values[(this.#first + index) % this.#times.length] ?? Number.NaN;
  }

  /** The first index whose time is not before `timeMs`; `size` if there is none. */
  indexOf(timeMs: number): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.timeAt(middle) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  clear(): void {
    this.#first = 0;
    this.#size = 0;
    this.#total = 0;
  }

  #grow(): void {
    // Before it is full the ring has not wrapped around, so the oldest sample is at 0.
    const length = Math.min(this.capacity, this.#times.length * 4);
    const times = new Float64Array(length);
    const values = new Float64Array(length);
    times.set(this.#times);
    values.set(this.#values);
    this.#times = times;
    this.#values = values;
  }
}

/** A series of a slow topic takes 16 KiB. */
const INITIAL = 1_024;
