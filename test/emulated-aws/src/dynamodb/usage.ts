import { READ_UNIT_BYTES, WRITE_UNIT_BYTES } from './limits.ts';

/** A transaction prepares and commits: its reads and writes cost twice as much. */
export const READS_OF_TRANSACTIONS = 2;
export const WRITES_OF_TRANSACTIONS = 2;

/** The units of one strongly consistent read, or half of them. A missing item costs the minimum. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES)) / (isConsistent ? 1 : 2);
}

/** The units of one write, by the larger of the items before and after it. */
export function writeUnits(bytesBefore: number, bytesAfter: number): number {
  return Math.max(1, Math.ceil(Math.max(bytesBefore, bytesAfter) / WRITE_UNIT_BYTES));
}

export interface Units {
  read: number;
  write: number;
}

export type ReturnConsumedCapacity = 'NONE' | 'TOTAL' | 'INDEXES';

/** The units that one call consumes, by table. */
export class Usage {
  readonly #byTable = new Map<string, Units>();

  get byTable(): ReadonlyMap<string, Readonly<Units>> {
    return this.#byTable;
  }

  read(tableName: string, units: number): void {
    this.#of(tableName).read += units;
  }

  write(tableName: string, units: number): void {
    this.#of(tableName).write += units;
  }

  /** The member `ConsumedCapacity` of an answer about one table. */
  consumed(returns: ReturnConsumedCapacity): { ConsumedCapacity?: object } {
    const [consumed] = this.#shown(returns);
    return consumed === undefined ? {} : { ConsumedCapacity: consumed };
  }

  /** The same for a batch: a list. */
  consumedByTable(returns: ReturnConsumedCapacity): { ConsumedCapacity?: readonly object[] } {
    return returns === 'NONE' ? {} : { ConsumedCapacity: this.#shown(returns) };
  }

  #shown(returns: ReturnConsumedCapacity): readonly object[] {
    if (returns === 'NONE') return [];
    return [...this.#byTable].map(([TableName, { read, write }]) => {
      const CapacityUnits = read + write;
      return {
        TableName,
        CapacityUnits,
        ...(returns === 'INDEXES' && { Table: { CapacityUnits } }),
      };
    });
  }

  #of(tableName: string): Units {
    let units = this.#byTable.get(tableName);
    if (units === undefined) {
      units = { read: 0, write: 0 };
      this.#byTable.set(tableName, units);
    }
    return units;
  }
}
