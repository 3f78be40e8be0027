import FlatQueue from 'flatqueue';

interface Entry<T> {
  readonly key: string;
  readonly dueAtMs: number;
  readonly value: T;
}

/** Replaced and deleted entries stay in the queue until they are due, or outnumber the others. */
const STALE_MIN = 64;

/** Things that are due at a time, one for each key. */
export class DueHeap<T> {
  readonly #queue = new FlatQueue<Entry<T>>();
  readonly #byKey = new Map<string, Entry<T>>();

  get size(): number {
    return this.#byKey.size;
  }

  /** Entries in the queue, replaced and deleted ones included. */
  get length(): number {
    return this.#queue.length;
  }

  /** When the earliest entry is due. Undefined: there is none. */
  get nextDueAtMs(): number | undefined {
    return this.#first()?.dueAtMs;
  }

  /** Replaces the entry under the key. */
  set(key: string, dueAtMs: number, value: T): void {
    const entry = { key, dueAtMs, value };
    this.#byKey.set(key, entry);
    this.#queue.push(entry, dueAtMs);
    this.#dropStale();
  }

  delete(key: string): boolean {
    const isThere = this.#byKey.delete(key);
    this.#dropStale();
    return isThere;
  }

  /** Removes and returns the earliest entry if it is due. */
  takeDue(nowMs: number): T | undefined {
    const first = this.#first();
    if (first === undefined || first.dueAtMs > nowMs) return undefined;
    this.#byKey.delete(first.key);
    this.#pop();
    return first.value;
  }

  #first(): Entry<T> | undefined {
    for (;;) {
      const first = this.#queue.peek();
      if (first === undefined || this.#byKey.get(first.key) === first) return first;
      this.#pop();
    }
  }

  #pop(): void {
    this.#queue.pop();
    // The queue keeps references to removed entries until it is shrunk.
    this.#queue.shrink();
  }

  /** A client that sets a timer again and again, due in a week, keeps no more memory than one timer takes. */
  #dropStale(): void {
    if (this.#queue.length <= 2 * this.#byKey.size + STALE_MIN) return;
    this.#queue.clear();
    this.#queue.shrink();
    for (const entry of this.#byKey.values()) this.#queue.push(entry, entry.dueAtMs);
  }
}
