/**
 * A bounded list with ascending positions: an entry keeps its number until it is dropped. Nothing is moved or copied,
 * so a push costs the same at any size.
 */
export class Ring<T> {
  readonly #items: (T | undefined)[];
  #first = 0;
  #end = 0;

  /** @param capacity the most items that are held */
  constructor(capacity: number) {
    this.#items = new Array<T | undefined>(capacity).fill(undefined);
  }

  get size(): number {
    return this.#end - this.#first;
  }

  /** The place of the oldest item. */
  get first(): number {
    return this.#first;
  }

  /** The place that the next item gets. */
  get end(): number {
    return this.#end;
  }

  get isFull(): boolean {
    return this.size === this.#items.length;
  }

  at(place: number): T | undefined {
    if (place < this.#first || place >= this.#end) return undefined;
    return this.#items[place % this.#items.length];
  }

  /** Finds the item with this number, if numbers of items ascend. */
  find(number: number, numberOf: (item: T) => number): T | undefined {
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (numberOf(this.at(middle) as T) < number) low = middle + 1;
      else high = middle;
    }
    const found = this.at(low);
    return found !== undefined && numberOf(found) === number ? found : undefined;
  }

  /** Drops the oldest item if the ring is full. */
  push(item: T): void {
    if (this.isFull) this.shift();
    this.#items[this.#end % this.#items.length] = item;
    this.#end += 1;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const slot = this.#first % this.#items.length;
    const item = this.#items[slot];
    this.#items[slot] = undefined;
    this.#first += 1;
    return item;
  }

  /** Positions continue from their present value. */
  clear(): void {
    this.#items.fill(undefined);
    this.#first = this.#end;
  }
}
