import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { compareValues } from '../values/compare.ts';
import { hashOf } from './scan-order.ts';

/** An item as it stands in a table. Replaced as a whole by every write. */
export interface Stored {
  readonly item: Item;
  readonly bytes: number;
  /** Absent in a table without a sort key, where a partition has one item. */
  readonly sort: AttributeValue | undefined;
}

/** The items of one partition key, in the order of their sort keys. */
export class Partition {
  /** The partition key's value, as text. */
  readonly key: string;
  /** Its place in a scan. */
  readonly hash: number;
  readonly #items: Stored[] = [];

  constructor(key: string) {
    this.key = key;
    this.hash = hashOf(key);
  }

  get items(): readonly Stored[] {
    return this.#items;
  }

  get(sort: AttributeValue | undefined): Stored | undefined {
    const there = this.#items[this.firstNotBefore(sort)];
    return there !== undefined && compareSortKeys(there.sort, sort) === 0 ? there : undefined;
  }

  put(stored: Stored): void {
    const index = this.firstNotBefore(stored.sort);
    const there = this.#items[index];
    const isReplaced = there !== undefined && compareSortKeys(there.sort, stored.sort) === 0;
    this.#items.splice(index, isReplaced ? 1 : 0, stored);
  }

  delete(sort: AttributeValue | undefined): void {
    if (this.get(sort) !== undefined) this.#items.splice(this.firstNotBefore(sort), 1);
  }

  /** Index of the first item whose sort key is this one or comes after it. */
  firstNotBefore(sort: AttributeValue | undefined): number {
    return partitionPoint(this.#items, 0, (stored) => compareSortKeys(stored.sort, sort) < 0);
  }
}

/** The first index from `start` on at which `isBefore` does not hold, where it holds for none that comes later. */
export function partitionPoint<T>(
  sorted: readonly T[],
  start: number,
  isBefore: (each: T) => boolean,
): number {
  let [low, high] = [start, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = sorted[middle];
    if (each !== undefined && isBefore(each)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sort keys of one table have one type. */
export function compareSortKeys(left: AttributeValue | undefined, right: AttributeValue | undefined): number {
  return left === undefined || right === undefined ? 0 : (compareValues(left, right) ?? 0);
}
