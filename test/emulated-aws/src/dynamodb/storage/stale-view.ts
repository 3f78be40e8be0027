import type { Key } from './key-schema.ts';
import { Partition, type Stored } from './partition.ts';
import { compareInScan } from './scan-order.ts';
import type { Table } from './table.ts';

/** A replica that has not heard of the last write of any item yet. */
export class StaleView {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  get(key: Key): Stored | undefined {
    const last = this.#table.lastVersions?.get(key);
    return last === undefined ? this.#table.get(key) : last.stored;
  }

  partition(partitionKey: string): Partition {
    const view = new Partition(partitionKey);
    for (const stored of this.#table.partition(partitionKey).items) view.put(stored);
    for (const { key, stored } of this.#table.lastVersions?.all() ?? []) {
      if (key.partition !== partitionKey) continue;
      if (stored === undefined) view.delete(key.sort);
      else view.put(stored);
    }
    return view;
  }

  partitions(): readonly Partition[] {
    const keys = new Set(this.#table.partitions().map(({ key }) => key));
    for (const { key } of this.#table.lastVersions?.all() ?? []) keys.add(key.partition);
    return [...keys].map((key) => this.partition(key)).sort(compareInScan);
  }
}
