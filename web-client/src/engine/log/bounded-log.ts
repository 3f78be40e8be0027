import { FrameListeners, type Schedule } from './frames.ts';
import { Ring } from './ring.ts';

export interface LogLimits {
  readonly countMax: number;
  readonly bytesMax: number;
}

/** The last entries of a log, up to a number of them and of their bytes. It tells its listeners once for each screen frame. */
export class BoundedLog<Entry> {
  readonly limits: LogLimits;
  protected readonly ring: Ring<Entry>;
  readonly #bytesOf: (entry: Entry) => number;
  readonly #listeners: FrameListeners;
  #bytes = 0;
  #changes = 0;

  constructor(limits: LogLimits, bytesOf: (entry: Entry) => number, schedule?: Schedule) {
    this.limits = limits;
    this.#bytesOf = bytesOf;
    this.ring = new Ring(limits.countMax);
    this.#listeners = new FrameListeners(schedule);
  }

  get size(): number {
    return this.ring.size;
  }

  get changes(): number {
    return this.#changes;
  }

  clear(): void {
    this.ring.clear();
    this.#bytes = 0;
    this.changed();
  }

  onFrame(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  protected push(entry: Entry): void {
    if (this.ring.isFull) this.#evict();
    this.ring.push(entry);
    this.#bytes += this.#bytesOf(entry);
    while (this.#bytes > this.limits.bytesMax && this.ring.size > 1) this.#evict();
  }

  protected changed(): void {
    this.#changes += 1;
    this.#listeners.changed();
  }

  #evict(): void {
    const evicted = this.ring.shift();
    if (evicted !== undefined) this.#bytes -= this.#bytesOf(evicted);
  }
}
