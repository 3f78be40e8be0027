/** A shorter array is not compacted. */
const COMPACT_FROM = 32;

/** First in, first out, in constant time: an array whose read part is cut off when it is more than half. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The one that `shift` would take. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    // Keeps no removed item alive.
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) this.#reset();
    else if (this.#head >= COMPACT_FROM && this.#head * 2 >= this.#items.length) this.#compact();
    return item;
  }

  toArray(): T[] {
    return this.#items.slice(this.#head) as T[];
  }

  #reset(): void {
    // A queue that was long frees its memory.
    if (this.#items.length > COMPACT_FROM) this.#items = [];
    else this.#items.length = 0;
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
