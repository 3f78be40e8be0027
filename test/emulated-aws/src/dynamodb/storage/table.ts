import type { Clock } from '@apus/emulator/service';
import type { Item } from '../values/attribute-value.ts';
import { itemBytes } from '../values/size.ts';
import { type Key, type KeySchema, keyIn } from './key-schema.ts';
import { LastVersions } from './last-versions.ts';
import { Partition, type Stored } from './partition.ts';
import { compareInScan } from './scan-order.ts';
import type { TimeToLive } from './time-to-live.ts';

export interface TableOptions {
  readonly timeToLive: TimeToLive;
  readonly clock: Clock;
  /** Whether it keeps the items that a lagging replica would show. */
  readonly remembers: boolean;
}

/** A table's items. Each call is atomic: its code never waits. */
export class Table {
  readonly name: string;
  readonly schema: KeySchema;
  readonly createdAtMs: number;
  readonly timeToLive: TimeToLive;
  readonly lastVersions: LastVersions | undefined;
  readonly #partitions = new Map<string, Partition>();
  /** By hash, for scans; sorted again after a partition has come or gone. */
  #inOrder: readonly Partition[] | undefined;

  constructor(name: string, schema: KeySchema, { timeToLive, clock, remembers }: TableOptions) {
    this.name = name;
    this.schema = schema;
    this.timeToLive = timeToLive;
    this.createdAtMs = clock.now();
    this.lastVersions = remembers ? new LastVersions(clock) : undefined;
  }

  get(key: Key): Stored | undefined {
    return this.#reap(this.#partitions.get(key.partition)?.get(key.sort));
  }

  put(key: Key, item: Item): Stored {
    const stored = { item, bytes: itemBytes(item), sort: key.sort };
    this.lastVersions?.remember(key, this.get(key));
    let partition = this.#partitions.get(key.partition);
    if (partition === undefined) {
      partition = new Partition(key.partition);
      this.#partitions.set(key.partition, partition);
      this.#inOrder = undefined;
    }
    partition.put(stored);
    return stored;
  }

  delete(key: Key): void {
    this.lastVersions?.remember(key, this.#partitions.get(key.partition)?.get(key.sort));
    const partition = this.#partitions.get(key.partition);
    partition?.delete(key.sort);
    if (partition?.items.length !== 0) return;
    this.#partitions.delete(key.partition);
    this.#inOrder = undefined;
  }

  /** The items under one partition key, after TTL has removed expired ones. */
  partition(partitionKey: string): Partition {
    const partition = this.#partitions.get(partitionKey);
    if (partition !== undefined && this.timeToLive.isOn) this.#sweep(partition);
    return this.#partitions.get(partitionKey) ?? new Partition(partitionKey);
  }

  /** All partitions, in the order of a scan. */
  partitions(): readonly Partition[] {
    if (this.timeToLive.isOn) for (const partition of this.#partitions.values()) this.#sweep(partition);
    this.#inOrder ??= [...this.#partitions.values()].sort(compareInScan);
    return this.#inOrder;
  }

  itemCount(): number {
    let count = 0;
    for (const { items } of this.#partitions.values()) count += items.length;
    return count;
  }

  #sweep(partition: Partition): void {
    for (const stored of [...partition.items]) this.#reap(stored);
  }

  /** Undefined if TTL has deleted it. */
  #reap(stored: Stored | undefined): Stored | undefined {
    if (stored === undefined || !this.timeToLive.takes(stored.item)) return stored;
    this.delete(keyIn(this.schema, stored.item));
    return undefined;
  }
}
