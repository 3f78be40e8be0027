interface Entry<T> {
  readonly key: string;
  readonly dueAtMs: number;
  readonly value: T;
  /** Where it stands in the heap. */
  index: number;
}

/** Things that are due at a time, one for each key: a binary heap that knows where every key stands. */
export class DueHeap<T> {
  readonly #heap: Entry<T>[] = [];
  readonly #byKey = new Map<string, Entry<T>>();

  get size(): number {
    return this.#heap.length;
  }

  /** When the earliest is due; undefined when nothing is. */
  get nextDueAtMs(): number | undefined {
    return this.#heap[0]?.dueAtMs;
  }

  /** Replaces what is there under the key. */
  set(key: string, dueAtMs: number, value: T): void {
    this.delete(key);
    const entry: Entry<T> = { key, dueAtMs, value, index: this.#heap.length };
    this.#heap.push(entry);
    this.#byKey.set(key, entry);
    this.#rise(entry);
  }

  delete(key: string): boolean {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return false;
    this.#byKey.delete(key);
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return true;
    this.#place(last, entry.index);
    this.#rise(last);
    this.#sink(last);
    return true;
  }

  /** Takes the earliest away if it is due. */
  takeDue(nowMs: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueAtMs > nowMs) return undefined;
    this.delete(first.key);
    return first.value;
  }

  #rise(entry: Entry<T>): void {
    for (;;) {
      const parent = this.#heap[(entry.index - 1) >> 1];
      if (entry.index === 0 || parent === undefined || parent.dueAtMs <= entry.dueAtMs) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry<T>): void {
    for (;;) {
      const child = this.#earlier(2 * entry.index + 1, 2 * entry.index + 2);
      if (child === undefined || child.dueAtMs >= entry.dueAtMs) return;
      this.#swap(entry, child);
    }
  }

  #earlier(one: number, other: number): Entry<T> | undefined {
    const left = this.#heap[one];
    const right = this.#heap[other];
    if (left === undefined || right === undefined) return left;
    return right.dueAtMs < left.dueAtMs ? right : left;
  }

  #swap(one: Entry<T>, other: Entry<T>): void {
    const index = one.index;
    this.#place(one, other.index);
    this.#place(other, index);
  }

  #place(entry: Entry<T>, index: number): void {
    entry.index = index;
    this.#heap[index] = entry;
  }
}
