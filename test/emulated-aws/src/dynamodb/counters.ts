import type { Units, Usage } from './usage.ts';

export interface DynamoDbTally {
  requests: number;
  /** A strongly consistent read of 4 KB is one. */
  readUnits: number;
  /** A write of 1 KB is one. */
  writeUnits: number;
}

/** Requests and consumed units since the start or the last `reset()`. */
export interface DynamoDbSnapshot {
  readonly total: DynamoDbTally;
  /** By name, such as `UpdateItem`. */
  readonly byOperation: Readonly<Record<string, DynamoDbTally>>;
  /** A batch over two tables counts as a request to both. */
  readonly byTable: Readonly<Record<string, DynamoDbTally>>;
  /** By name of the exception. */
  readonly errors: Readonly<Record<string, number>>;
  /** Faults that struck, by name, and `timeToLiveDeletes`, which cost nothing. */
  readonly events: Readonly<Record<string, number>>;
}

export class DynamoDbCounters {
  #total = newTally();
  #byOperation: Record<string, DynamoDbTally> = {};
  #byTable: Record<string, DynamoDbTally> = Object.create(null);
  #errors: Record<string, number> = {};
  #events: Record<string, number> = {};

  /** Counts from nothing again. */
  reset(): void {
    this.#total = newTally();
    this.#byOperation = {};
    this.#byTable = Object.create(null);
    this.#errors = {};
    this.#events = {};
  }

  /** A copy that later calls do not change. */
  snapshot(): DynamoDbSnapshot {
    return structuredClone({
      total: this.#total,
      byOperation: this.#byOperation,
      byTable: this.#byTable,
      errors: this.#errors,
      events: this.#events,
    });
  }

  /** Counts one call, refused or not: a condition that fails is billed. */
  request(operation: string, usage: Usage): void {
    this.#byOperation[operation] ??= newTally();
    const ofOperation = this.#byOperation[operation];
    this.#total.requests += 1;
    ofOperation.requests += 1;
    for (const [tableName, units] of usage.byTable) {
      this.#byTable[tableName] ??= newTally();
      this.#byTable[tableName].requests += 1;
      for (const tally of [this.#total, ofOperation, this.#byTable[tableName]]) add(tally, units);
    }
  }

  error(name: string): void {
    this.#errors[name] = (this.#errors[name] ?? 0) + 1;
  }

  event(name: string): void {
    this.#events[name] = (this.#events[name] ?? 0) + 1;
  }
}

function newTally(): DynamoDbTally {
  return { requests: 0, readUnits: 0, writeUnits: 0 };
}

function add(tally: DynamoDbTally | undefined, { read, write }: Readonly<Units>): void {
  if (tally === undefined) return;
  tally.readUnits += read;
  tally.writeUnits += write;
}
