import { throughputExceeded } from './errors.ts';
import type { DynamoDbCall } from './faults.ts';
import type { ServiceParts } from './service-parts.ts';
import type { Key, KeySchema } from './storage/key-schema.ts';
import type { Partition, Stored } from './storage/partition.ts';
import { StaleView } from './storage/stale-view.ts';
import { Table } from './storage/table.ts';
import type { Tables } from './storage/tables.ts';
import { TimeToLive } from './storage/time-to-live.ts';
import type { TransactionTokens } from './transaction-tokens.ts';
import { readUnits, Usage, writeUnits } from './usage.ts';
import type { Item } from './values/attribute-value.ts';

/** The tables that an operation may read from. */
interface View {
  get(key: Key): Stored | undefined;
  partition(partitionKey: string): Partition;
  partitions(): readonly Partition[];
}

/** One call during its operation. Its reads and writes go through here, and are counted. */
export class Call {
  readonly usage = new Usage();
  readonly #parts: ServiceParts;
  readonly #subject: DynamoDbCall;
  #isStale: boolean | undefined;

  constructor(parts: ServiceParts, subject: DynamoDbCall) {
    this.#parts = parts;
    this.#subject = subject;
  }

  get tables(): Tables {
    return this.#parts.tables;
  }

  newTable(name: string, schema: KeySchema): Table {
    const { clock, counters, faults, timeToLiveSeconds } = this.#parts;
    const timeToLive = new TimeToLive(clock, timeToLiveSeconds, () => counters.event('timeToLiveDeletes'));
    return new Table(name, schema, { timeToLive, clock, remembers: faults.staleRead !== undefined });
  }

  get transactionTokens(): TransactionTokens {
    return this.#parts.transactionTokens;
  }

  /** Whether a conflict with a transaction on the same item is simulated. */
  conflicts(): boolean {
    const { dice, faults } = this.#parts;
    return dice.strikes('conflict', faults.conflict, this.#subject);
  }

  /** False if the partition accepts no more at the moment. */
  isOpen(table: Table, key: Key, kind: 'read' | 'write'): boolean {
    return this.#parts.partitionLimits.isOpen(table.name, key.partition, kind);
  }

  /** Throws ProvisionedThroughputExceededException when the partition takes no more at the moment. */
  enter(table: Table, partitionKey: string, kind: 'read' | 'write'): void {
    if (!this.#parts.partitionLimits.isOpen(table.name, partitionKey, kind)) throw throughputExceeded();
  }

  /** Whether a batch handles a key. False leaves it unprocessed. */
  takes(table: Table, key: Key, kind: 'read' | 'write'): boolean {
    const { dice, faults, partitionLimits } = this.#parts;
    const subject = { ...this.#subject, table: table.name, key: key.attributes };
    if (dice.strikes('unprocessed', faults.unprocessed, subject)) return false;
    return partitionLimits.isOpen(table.name, key.partition, kind);
  }

  get(table: Table, key: Key, isConsistent: boolean): Stored | undefined {
    const stored = this.view(table, isConsistent).get(key);
    this.countRead(table, key.partition, readUnits(stored?.bytes ?? 0, isConsistent));
    return stored;
  }

  /** The table, or, where a read need not be consistent and the fault strikes, the table a moment ago. */
  view(table: Table, isConsistent: boolean): View {
    if (isConsistent) return table;
    const { dice, faults } = this.#parts;
    this.#isStale ??= dice.strikes('staleRead', faults.staleRead, this.#subject);
    return this.#isStale ? new StaleView(table) : table;
  }

  /** Puts an item, or deletes the present one. */
  write(table: Table, key: Key, before: Stored | undefined, item: Item | undefined): void {
    const after = this.apply(table, key, item);
    this.countWrite(table, key.partition, writeUnits(before?.bytes ?? 0, after?.bytes ?? 0));
  }

  /** The same, but the caller counts it. */
  apply(table: Table, key: Key, item: Item | undefined): Stored | undefined {
    if (item !== undefined) return table.put(key, item);
    table.delete(key);
    return undefined;
  }

  countRead(table: Table, partitionKey: string | undefined, units: number): void {
    this.usage.read(table.name, units);
    if (partitionKey !== undefined) {
      this.#parts.partitionLimits.charge(table.name, partitionKey, 'read', units);
    }
  }

  countWrite(table: Table, partitionKey: string, units: number): void {
    this.usage.write(table.name, units);
    this.#parts.partitionLimits.charge(table.name, partitionKey, 'write', units);
  }

  /** A batch returns items in no reliable order. */
  shuffled<T>(values: readonly T[]): T[] {
    const left = [...values];
    return values.flatMap(() => left.splice(this.#parts.random.integer(left.length), 1));
  }
}
