import { PATIENCE_MS } from '../../support/patience.ts';

/** The callbacks of a client library, to be awaited one by one. */
export class Inbox<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];

  readonly push = (item: T): void => {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#items.push(item);
    else waiting(item);
  };

  /** How many have come and were not taken yet. */
  get size(): number {
    return this.#items.length;
  }

  async next(): Promise<T> {
    const item = this.#items.shift();
    if (item !== undefined) return item;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited ${PATIENCE_MS} ms in vain`)), PATIENCE_MS);
      this.#waiting.push((arrived) => {
        clearTimeout(timer);
        resolve(arrived);
      });
    });
  }

  async take(count: number): Promise<T[]> {
    const items: T[] = [];
    while (items.length < count) items.push(await this.next());
    return items;
  }
}
