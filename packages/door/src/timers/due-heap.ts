import FlatQueue from 'flatqueue';

interface Entry<T> {
  readonly key: string;
  readonly dueAtMs: number;
  /** In the order in which entries were set. */
  readonly number: number;
  readonly value: T;
}

/** Replaced and deleted entries stay in the queue until they are due, or outnumber the others. */
const STALE_MIN = 64;

/** Things that are due at a time, one for each key. Those of the same time come in the order in which they were set. */
export class DueHeap<T> {
  readonly #queue = new FlatQueue<Entry<T>>();
  /** Entries of a time of which one has been taken: the queue keeps no order among them. The next is the last. */
  #ordered: Entry<T>[] = [];
  #lastNumber = 0;
  readonly #byKey = new Map<string, Entry<T>>();

  get size(): number {
    return this.#byKey.size;
  }

  /** Entries in the queue, replaced and deleted ones included. */
  get length(): number {
    return this.#queue.length + this.#ordered.length;
  }

  /** When the earliest entry is due. Undefined: there is none. */
  get nextDueAtMs(): number | undefined {
    return this.#first()?.dueAtMs;
  }

  /** Replaces the entry under the key. */
  set(key: string, dueAtMs: number, value: T): void {
    this.#lastNumber += 1;
    const entry = { key, dueAtMs, number: this.#lastNumber, value };
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
    if (this.#ordered.at(-1) !== first) this.#order(first.dueAtMs);
    const taken = this.#ordered.pop() ?? first;
    this.#byKey.delete(taken.key);
    return taken.value;
  }

  /** One of the earliest. */
  #first(): Entry<T> | undefined {
    while (this.#ordered.length > 0 && !this.#isHeld(this.#ordered.at(-1))) this.#ordered.pop();
    while (this.#queue.length > 0 && !this.#isHeld(this.#queue.peek())) this.#pop();
    const [ordered, queued] = [this.#ordered.at(-1), this.#queue.peek()];
    if (ordered === undefined || queued === undefined) return ordered ?? queued;
    return queued.dueAtMs < ordered.dueAtMs ? queued : ordered;
  }

  #isHeld(entry: Entry<T> | undefined): boolean {
    return entry !== undefined && this.#byKey.get(entry.key) === entry;
  }

  /** Takes all entries of the earliest time from the queue. */
  #order(dueAtMs: number): void {
    const found: Entry<T>[] = [];
    for (let next = this.#queue.peek(); next?.dueAtMs === dueAtMs; next = this.#queue.peek()) {
      if (this.#isHeld(next)) found.push(next);
      this.#pop();
    }
    found.sort((one, other) => other.number - one.number);
    this.#ordered = this.#ordered.concat(found);
  }

  #pop(): void {
    this.#queue.pop();
    // The queue keeps references to removed entries until it is shrunk.
    this.#queue.shrink();
  }

  /** A client that sets a timer again and again, due in a week, keeps no more memory than one timer takes. */
  #dropStale(): void {
    if (this.length <= 2 * this.#byKey.size + STALE_MIN) return;
    this.#ordered = [];
    this.#queue.clear();
    this.#queue.shrink();
    for (const entry of this.#byKey.values()) this.#queue.push(entry, entry.dueAtMs);
  }
}
